/**
 * The library is a tenth of all code that a server loads, with its readers of certificates. It is loaded for the first
 * ceremony, and not at all where nobody has a passkey or a security key.
 */
export const loadLibrary = () => import('@simplewebauthn/server')
