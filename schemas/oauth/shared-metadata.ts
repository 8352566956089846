/** The part of a user's metadata that an OAuth client may read, by its scopes. */
import { isRecord } from '../values/record.ts'

/** Whether a client may rely on the addresses of a user. */
export interface VerifiedContacts {
  email: boolean
  phone: boolean
}

interface ContactOwner {
  email: string | null
  phone: string | null
}

/** What the scopes reveal. */
export interface SharedContacts {
  email: boolean
  phone: boolean
  address: boolean
}

/**
 * Users and providers write the metadata, so that claims about contacts in it, at any depth, are replaced by this
 * server's own. Other values with an address or number that the client may not see are left out.
 */
export function shareMetadata(
  { email, phone, metadata }: ContactOwner & { metadata: unknown },
  shared: SharedContacts,
  verified: VerifiedContacts,
): Record<string, unknown> {
  const isHidden = (text: string) => revealsContact(text, { email, phone }, shared)
  const { address, ...rest } = withoutContacts(isRecord(metadata) ? metadata : {}, isHidden)
  return {
    ...rest,
    ...(shared.address && address !== undefined && { address }),
    ...(shared.email && email && { email, email_verified: verified.email }),
    ...(shared.phone && phone && { phone, phone_verified: verified.phone }),
  }
}

/** Whether a text has an email address, or is the user's number, and the client may not see it. */
export function revealsContact(
  text: string,
  { email, phone }: ContactOwner,
  shared: Pick<SharedContacts, 'email' | 'phone'>,
): boolean {
  if (!shared.phone && phone && text.replace(/^\+/, '') === phone) return true
  if (shared.email) return false
  const isOwn = Boolean(email && text.toLowerCase().includes(email))
  return isOwn || hasAddress(text.replaceAll('%40', '@'))
}

/** Each sign is looked at once, because the texts may be long. */
function hasAddress(text: string): boolean {
  for (let at = text.indexOf('@'); at >= 0; at = text.indexOf('@', at + 1)) {
    const [before = '', after] = [text[at - 1], text.slice(at + 1, at + 256)]
    const isDomain = /^[\p{L}\p{N}_-]+\.[\p{L}\p{N}]/u.test(after)
    if (isDomain && /[\p{L}\p{N}._+-]/u.test(before)) return true
  }
  return false
}

const contactName =
  /^(e-?mails?|(e-?mail|phone(_?number)?)_?(verified|confirmed)|verified_?e-?mail|phone(_?number)?)$/i

type IsHidden = (text: string) => boolean

function withoutContacts(value: object, isHidden: IsHidden): Record<string, unknown> {
  const entries = Object.entries(value).filter(
    ([name, each]) => !contactName.test(name) && !(typeof each === 'string' && isHidden(each)),
  )
  return Object.fromEntries(
    entries.map(([name, each]) => [name, withoutContactsIn(each, isHidden)]),
  )
}

function withoutContactsIn(value: unknown, isHidden: IsHidden): unknown {
  if (Array.isArray(value)) {
    const shown = value.filter((each) => !(typeof each === 'string' && isHidden(each)))
    return shown.map((each) => withoutContactsIn(each, isHidden))
  }
  return isRecord(value) ? withoutContacts(value, isHidden) : value
}
