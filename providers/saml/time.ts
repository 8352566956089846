import { SamlError } from './saml-error.ts'

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
