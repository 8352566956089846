/** The identity provider's session behind an assertion, which single logout names (SAML 2.0 Profiles §4.4). */
import type { Trx } from '../../db/core/database.ts'
import { insertSamlLogin, type SamlLogin } from '../../db/saml/logins.ts'
import type { NameId } from '../../providers/saml/messages.ts'
import { parseSamlTime } from '../../providers/saml/values.ts'
import { childrenNamed, type XmlElement } from '../../providers/saml/xml.ts'

export interface ProviderSession {
  /** Undefined when the provider identifies the user by attributes only. */
  nameId: NameId | undefined
  index: string | null
  /** When the provider's session expires. */
  end: Date | undefined
}

/** Limit of the database index. */
const maxBytes = 1024

/** Throws SamlError: without its end, the session would outlive that of the provider. */
export function readProviderSession(assertion: XmlElement): ProviderSession {
  const [subject] = childrenNamed(assertion, 'assertion', 'Subject')
  const statements = childrenNamed(assertion, 'assertion', 'AuthnStatement')
  const ends = statements
    .map((statement) => statement.getAttribute('SessionNotOnOrAfter'))
    .filter((text) => text !== '')
    .map((text) => parseSamlTime(text, 'SessionNotOnOrAfter'))
  const index = statements[0]?.getAttribute('SessionIndex') || null
  return {
    nameId: subject && nameIdIn(subject),
    index: index && isStorable(index) ? index : null,
    end: ends.length > 0 ? new Date(Math.min(...ends)) : undefined,
  }
}

/** The NameID of a subject, or of a LogoutRequest. */
export function nameIdIn(parent: XmlElement): NameId | undefined {
  const [nameId] = childrenNamed(parent, 'assertion', 'NameID')
  const value = nameId?.textContent?.trim() ?? ''
  if (!nameId || value === '' || !isStorable(value)) return undefined
  const attribute = (name: string) => nameId.getAttribute(name) || null
  return {
    value,
    format: attribute('Format'),
    nameQualifier: attribute('NameQualifier'),
    spNameQualifier: attribute('SPNameQualifier'),
  }
}

const isStorable = (text: string) => Buffer.byteLength(text) <= maxBytes

type Owner = Pick<SamlLogin, 'sso_provider_id' | 'user_id' | 'flow_id' | 'session_id'>

/** Stores what single logout needs, for a session or for the code that will create one. */
export async function storeProviderSession(
  trx: Trx,
  owner: Owner,
  { nameId, index, end }: ProviderSession,
): Promise<void> {
  await insertSamlLogin(trx, {
    id: crypto.randomUUID(),
    ...owner,
    name_id: nameId?.value ?? null,
    name_id_format: nameId?.format ?? null,
    name_qualifier: nameId?.nameQualifier ?? null,
    sp_name_qualifier: nameId?.spNameQualifier ?? null,
    session_index: index,
    session_end: end ?? null,
  })
}
