import { SamlError } from './saml-error.ts'

/** Decodes base64, which may contain white space. Throws SamlError. */
export function readBase64(text: string): Buffer {
  const base64 = text.replace(/\s+/g, '')
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(base64)) throw new SamlError('it is not base64')
  return Buffer.from(base64, 'base64')
}
