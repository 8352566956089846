/** All that a process started by a test gets of our environment: where programs are, and what is compiled of ours already. */
export const wayToPrograms = {
  PATH: process.env.PATH,
  NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
}
