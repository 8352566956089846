/** The status of a response (SAML 2.0 Core §3.2.2.2). */
import { childrenNamed, type XmlElement } from './xml.ts'

const prefix = 'urn:oasis:names:tc:SAML:2.0:status:'

export const successStatus = `${prefix}Success`

/** What to do about a second-level code. */
const advice: ReadonlyMap<string, string> = new Map([
  ['AuthnFailed', 'The user was not authenticated there'],
  [
    'InvalidNameIDPolicy',
    'It does not send the requested NameID format: set name_id_format of the provider here to the format that it sends, or have it send that format',
  ],
  ['NoAuthnContext', 'It cannot authenticate the user as it was requested'],
  ['NoPassive', 'The user has to sign in there first'],
  ['RequestDenied', 'It denies the request: assign the user to the application there'],
  [
    'RequestUnsupported',
    'It does not support the request: compare the entity ID, the ACS URL and the certificate there with the metadata of this server',
  ],
  ['UnknownPrincipal', 'It does not know the user'],
  ['UnsupportedBinding', 'It has to send the response by HTTP-POST'],
])

/** Whether a sign-in or logout succeeded. */
export function isSuccess(root: XmlElement): boolean {
  return listCodes(root)[0] === successStatus
}

/** Why it did not succeed, in our words; empty when the codes are unknown. */
export function describeStatus(root: XmlElement): string {
  const known = listCodes(root).map((code) =>
    code.startsWith(prefix) ? advice.get(code.slice(prefix.length)) : undefined,
  )
  return known.findLast((text) => text !== undefined) ?? ''
}

/** The top-level code and those inside it. */
function listCodes(root: XmlElement): string[] {
  const [status] = childrenNamed(root, 'protocol', 'Status')
  return status ? nestedCodes(status) : []
}

function nestedCodes(element: XmlElement): string[] {
  const [code] = childrenNamed(element, 'protocol', 'StatusCode')
  return code ? [code.getAttribute('Value'), ...nestedCodes(code)] : []
}
