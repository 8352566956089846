/** Values in SAML documents, and the error of a rejected one. */

/** A rejected SAML message or metadata document. The reason is our text and contains nothing of the document. */
export class SamlError extends Error {
  override name = 'SamlError'
}

/** Decodes base64, which may contain white space. Throws SamlError. */
export function readBase64(text: string): Buffer {
  const base64 = text.replace(/\s+/g, '')
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(base64)) throw new SamlError('it is not base64')
  return Buffer.from(base64, 'base64')
}

const pattern = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?)(Z|[+-]\d\d:\d\d)?$/

/**
 * Parses an xs:dateTime. Times of SAML are in UTC, also without a time zone (Core §1.3.3). Returns milliseconds. Throws
 * SamlError, which names the value by `name`.
 */
export function parseSamlTime(text: string, name: string): number {
  const [, local, zone = 'Z'] = pattern.exec(text.trim()) ?? []
  const time = Date.parse(`${local}${zone}`)
  if (Number.isNaN(time)) throw new SamlError(`its ${name} is not a time`)
  return time
}
