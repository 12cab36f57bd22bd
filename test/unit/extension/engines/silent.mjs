// Reads its input and says nothing.
process.stdin.resume();
setInterval(() => undefined, 1000);
