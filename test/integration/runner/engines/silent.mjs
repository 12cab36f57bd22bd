// Runs and says nothing.
setInterval(() => undefined, 1000);
