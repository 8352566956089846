/** Loaded for the first ceremony: the library with its certificate parsers is a tenth of the server's code. */
export const loadLibrary = () => import('@simplewebauthn/server')
