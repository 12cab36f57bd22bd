// Stands in for ssh2, which the Docker client's transport loads at start but which is never called here.
exports.Client = class {
  constructor() {
    throw new Error('ssh endpoints go through `docker system dial-stdio`');
  }
};
