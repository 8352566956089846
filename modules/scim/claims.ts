/** The account fields that come from the SCIM resource of the user. */
import type { ScimConnectionRow } from '../../db/scim/connections.ts'
import type { StoredScimResource } from '../../db/tables/scim.ts'
import { normalizeEmail } from '../../schemas/fields.ts'
import { isRecord } from '../../schemas/values/record.ts'
import { isShortName } from './limits.ts'

export interface AccountClaims {
  userName: string
  /** In its stored form; null without a valid one. */
  email: string | null
  name: string | undefined
}

export function toAccountClaims({
  userName,
  displayName,
  name,
  emails,
}: StoredScimResource): AccountClaims {
  const addresses = Array.isArray(emails) ? emails.filter(isRecord) : []
  const preferred = addresses.find(({ primary }) => primary === true) ?? addresses[0]
  return {
    userName: String(userName),
    email: readEmail(preferred?.value ?? userName),
    name: textOrUndefined(displayName) ?? (isRecord(name) ? fullName(name) : undefined),
  }
}

/** Access tokens contain the name, so a long one is not used. */
const textOrUndefined = (value: unknown) =>
  typeof value === 'string' && value !== '' && isShortName(value) ? value : undefined

function fullName({ formatted, givenName, familyName }: Record<string, unknown>) {
  const joined = [givenName, familyName].flatMap((part) => textOrUndefined(part) ?? []).join(' ')
  return textOrUndefined(formatted) ?? textOrUndefined(joined)
}

function readEmail(value: unknown): string | null {
  try {
    return typeof value === 'string' ? normalizeEmail(value) : null
  } catch {
    return null
  }
}

/** The provider of the identities of a connection with single sign-on. */
export const toProviderName = ({ sso_provider_id }: Pick<ScimConnectionRow, 'sso_provider_id'>) =>
  `sso:${sso_provider_id}`

export function toAccountMetadata(connection: ScimConnectionRow, { name, email }: AccountClaims) {
  const provider = connection.has_saml ? toProviderName(connection) : 'email'
  return {
    appMetadata: { provider, providers: [provider] },
    userMetadata: { ...(name && { full_name: name, name }), ...(email && { email }) },
  }
}

/** The identities with which a sign-in at the provider finds the account: the NameID is the userName. */
export function toScimIdentities(
  connection: ScimConnectionRow,
  { userName, email }: AccountClaims,
  userId: string,
  isConfirmed: boolean,
) {
  const contact = { ...(email && { email }), email_verified: isConfirmed, phone_verified: false }
  if (connection.has_saml) {
    const identity_data = { sub: userName, ...contact }
    return [{ provider: toProviderName(connection), provider_id: userName, identity_data }]
  }
  if (!email) return []
  return [{ provider: 'email', provider_id: userId, identity_data: { sub: userId, ...contact } }]
}
