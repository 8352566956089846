/** The part of our environment for processes of a test: PATH and the compile cache. */
export const wayToPrograms = {
  PATH: process.env.PATH,
  NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
}
