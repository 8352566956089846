import { SamlError } from './saml-error.ts'

/** Parses an xs:dateTime with a time zone. Returns milliseconds. Throws SamlError, which names the value by `name`. */
export function parseSamlTime(text: string, name: string): number {
  const isTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(text)
  const time = isTime ? Date.parse(text) : Number.NaN
  if (Number.isNaN(time)) throw new SamlError(`its ${name} is not a time`)
  return time
}
