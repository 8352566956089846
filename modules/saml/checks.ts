/**
 * Conditions of a response and its assertion (SAML 2.0 Core §2.5, Profiles §4.1.4.3). The assertion is the signed one.
 * Each check throws SamlError.
 */
import { parseSamlTime, SamlError } from '../../providers/saml/values.ts'
import { childrenNamed, elementText, type XmlElement } from '../../providers/saml/xml.ts'

/** The expected values of a response. */
export interface Expected {
  entityId: string
  acsUrl: string
  /** Of the provider. */
  issuer: string
  /** The id of our request; undefined for an IdP-initiated sign-in. */
  requestId: string | undefined
  now: Date
}

const skewMs = 180_000
const maxAgeMs = 90_000
const bearerMethod = 'urn:oasis:names:tc:SAML:2.0:cm:bearer'

interface ResponseHead {
  inResponseTo: string
  destination: string
  issueInstant: string
  isSigned: boolean
}

/** Checks the response around the assertion. */
export function checkResponse(
  { inResponseTo, destination, issueInstant, isSigned }: ResponseHead,
  expected: Expected,
): void {
  checkInResponseTo(inResponseTo, expected)
  // A signed response must name its destination (Bindings §3.5.5.2).
  if ((destination !== '' || isSigned) && destination !== expected.acsUrl) {
    throw otherUrl('Destination', expected.acsUrl, 'ACS URL')
  }
  checkIssued(issueInstant, expected.now)
}

/**
 * Checks a logout message, which is always signed and must name its destination. Returns when it expires, for replay
 * detection.
 */
export function checkLogoutMessage(
  message: XmlElement,
  { destination, issuer, now }: Pick<Expected, 'issuer' | 'now'> & { destination: string },
): Date {
  checkVersionAndId(message, 'it')
  if (message.getAttribute('Destination') !== destination) {
    throw otherUrl('Destination', destination, 'single logout URL')
  }
  checkIssuer(message, { issuer })
  checkPeriod(message, now)
  return checkIssued(message.getAttribute('IssueInstant'), now)
}

/** Names the URL of this server, which is no secret. */
const otherUrl = (field: string, url: string, name: string) =>
  new SamlError(
    `its ${field} is another URL. Enter ${url} as ${name} at the identity provider, exactly`,
  )

const clocks = 'Compare the clocks of the identity provider and this server'

function checkVersionAndId(element: XmlElement, name: string): void {
  if (element.getAttribute('Version') !== '2.0') throw new SamlError('it is not SAML 2.0')
  if (element.getAttribute('ID') === '') throw new SamlError(`${name} has no ID`)
}

/**
 * Returns the time after which it is never accepted, for replay detection: that of its age. Its confirmations may have
 * other times each, and one that is not valid yet may be later.
 */
export function checkAssertion(assertion: XmlElement, expected: Expected): Date {
  checkVersionAndId(assertion, 'its assertion')
  checkIssuer(assertion, expected)
  const conditions = onlyChild(assertion, 'Conditions')
  checkPeriod(conditions, expected.now)
  checkAudience(conditions, expected)
  checkConfirmation(onlyChild(assertion, 'Subject'), expected)
  return checkIssued(assertion.getAttribute('IssueInstant'), expected.now)
}

function checkIssuer(element: XmlElement, { issuer }: Pick<Expected, 'issuer'>): void {
  if (elementText(onlyChild(element, 'Issuer')) !== issuer) {
    throw new SamlError('it has another issuer')
  }
}

/** An unsolicited response must not refer to a request (Profiles §4.1.5). */
function checkInResponseTo(inResponseTo: string, { requestId }: Pick<Expected, 'requestId'>): void {
  if (inResponseTo === (requestId ?? '')) return
  throw new SamlError('it is not a response to the request of this sign-in')
}

/** Returns the time after which it is too old on each server, whose clocks may differ. */
function checkIssued(issueInstant: string, now: Date): Date {
  const issued = parseSamlTime(issueInstant, 'IssueInstant')
  const age = now.getTime() - issued
  if (age > maxAgeMs) throw new SamlError(`it was issued too long ago. ${clocks}`)
  if (age < -skewMs) throw new SamlError(`it was issued in the future. ${clocks}`)
  return new Date(issued + maxAgeMs + skewMs)
}

/** Checks NotBefore and NotOnOrAfter where present. */
function checkPeriod(element: XmlElement, now: Date): void {
  const [start, end] = ['NotBefore', 'NotOnOrAfter'].map((name) => element.getAttribute(name))
  if (start && now.getTime() < parseSamlTime(start, 'NotBefore') - skewMs) {
    throw new SamlError(`it is not valid yet. ${clocks}`)
  }
  if (end && now.getTime() >= parseSamlTime(end, 'NotOnOrAfter') + skewMs) {
    throw new SamlError('it has expired')
  }
}

/** At least one restriction, and each of them must include this server. */
function checkAudience(conditions: XmlElement, { entityId }: Expected): void {
  const restrictions = childrenNamed(conditions, 'assertion', 'AudienceRestriction')
  const isMeant = restrictions.every((restriction) =>
    childrenNamed(restriction, 'assertion', 'Audience').some(
      (each) => elementText(each) === entityId,
    ),
  )
  if (restrictions.length === 0 || !isMeant) {
    throw new SamlError(
      `it is intended for another audience. Enter ${entityId} as entity ID at the identity provider`,
    )
  }
}

/** One valid bearer confirmation is sufficient (Profiles §4.1.4.2). */
function checkConfirmation(subject: XmlElement, expected: Expected): void {
  const [first, ...others] = childrenNamed(subject, 'assertion', 'SubjectConfirmation')
    .filter((each) => each.getAttribute('Method') === bearerMethod)
    .flatMap((each) => childrenNamed(each, 'assertion', 'SubjectConfirmationData'))
  if (!first) throw new SamlError('its subject has no valid bearer confirmation')
  if (!others.some((other) => holds(other, expected))) confirm(first, expected)
}

function holds(data: XmlElement, expected: Expected): boolean {
  try {
    confirm(data, expected)
    return true
  } catch {
    return false
  }
}

function confirm(data: XmlElement, expected: Expected): void {
  if (data.getAttribute('Recipient') !== expected.acsUrl) {
    throw otherUrl('Recipient', expected.acsUrl, 'ACS URL')
  }
  checkInResponseTo(data.getAttribute('InResponseTo'), expected)
  if (data.getAttribute('NotOnOrAfter') === '') {
    throw new SamlError('its confirmation has no expiry')
  }
  checkPeriod(data, expected.now)
}

function onlyChild(element: XmlElement, name: string): XmlElement {
  const [child, ...others] = childrenNamed(element, 'assertion', name)
  if (child && others.length === 0) return child
  throw new SamlError(`it must have exactly one ${name}`)
}
