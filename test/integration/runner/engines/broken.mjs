// Ends before it has said anything.
console.error('Cannot find module "x"');
process.exit(1);
