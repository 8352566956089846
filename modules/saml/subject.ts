/** The user of an assertion: the id, the email address, and the claims mapped from attributes. */
import type { Static } from '@sinclair/typebox'

import type { ProviderIdentity } from '../../plugins/outgoing/oauth-providers/index.ts'
import { SamlError } from '../../providers/saml/values.ts'
import { childrenNamed, elementText, type XmlElement } from '../../providers/saml/xml.ts'
import { samlNoEmail, samlNoUserId } from '../../schemas/errors.ts'
import { normalizeEmail } from '../../schemas/fields.ts'
import type { AttributeMapping as Schema } from '../../schemas/sso-provider.ts'
import { isRecord } from '../../schemas/values/record.ts'

const subjectId = 'urn:oasis:names:tc:SAML:attribute:subject-id'
/** Only without another id, which GoTrue uses. */
const pairwiseId = 'urn:oasis:names:tc:SAML:attribute:pairwise-id'
const emailFormat = 'urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress'
/** It exists in 1.1 only, but consoles offer it. As an id, its value stays as GoTrue has it. */
const wrongEmailFormat = 'urn:oasis:names:tc:SAML:2.0:nameid-format:emailAddress'
const transientFormat = 'urn:oasis:names:tc:SAML:2.0:nameid-format:transient'

/** Attributes that providers use for the email address, most specific first. */
const emailAttributes = [
  'urn:oid:0.9.2342.19200300.100.1.3',
  'http://schemas.xmlsoap.org/ws/2005/05/identity/claims/emailaddress',
  'http://schemas.xmlsoap.org/claims/EmailAddress',
  'mail',
  'Mail',
  'email',
]

/** Claims with a separate field that clients expect to be a string. */
export const textClaims = [
  'name',
  'family_name',
  'given_name',
  'middle_name',
  'nickname',
  'preferred_username',
  'profile',
  'picture',
  'website',
  'gender',
  'birthdate',
  'zoneinfo',
  'locale',
  'phone',
  'full_name',
  'avatar_url',
  'slug',
  'provider_id',
  'user_name',
]
/** Claims with a separate field; all others are custom claims. */
const knownClaims = [...textClaims, 'updated_at']
/** Claims that are never taken from an attribute. */
const reservedClaims = ['sub', 'iss', 'email_verified', 'phone_verified']

/** Throws SamlError, saml_assertion_no_user_id and saml_assertion_no_email. */
export function readSubject(
  assertion: XmlElement,
  { issuer, mapping }: { issuer: string; mapping: SamlAttributeMapping | null },
): ProviderIdentity {
  const attributes = readAttributes(assertion)
  const nameId = readNameId(assertion)
  const id = firstValue(attributes, subjectId) ?? nameId.id ?? firstValue(attributes, pairwiseId)
  if (!id || id.length > 1000) throw samlNoUserId()
  const { email: mappedEmail, ...mapped } = mapAttributes(attributes, mapping)
  const email = findEmail([
    mappedEmail,
    ...emailAttributes.map((name) => firstValue(attributes, name)),
    nameId.email,
  ])
  const entries = Object.entries(mapped).filter(([name]) => !reservedClaims.includes(name))
  const known = entries.filter(([name]) => knownClaims.includes(name))
  const custom = entries.filter(([name]) => !knownClaims.includes(name))
  const claims = {
    iss: issuer,
    sub: id,
    email,
    email_verified: true,
    phone_verified: false,
    ...Object.fromEntries(known),
    ...(custom.length > 0 && { custom_claims: Object.fromEntries(custom) }),
  }
  const emails = [{ email, verified: true, primary: true }]
  return { providerId: id, claims, emails }
}

function readAttributes(assertion: XmlElement): SamlAttribute[] {
  return childrenNamed(assertion, 'assertion', 'AttributeStatement')
    .flatMap((statement) => childrenNamed(statement, 'assertion', 'Attribute'))
    .map((attribute) => ({
      names: [attribute.getAttribute('Name'), attribute.getAttribute('FriendlyName')].filter(
        Boolean,
      ),
      values: childrenNamed(attribute, 'assertion', 'AttributeValue')
        .map(elementText)
        .filter(Boolean),
    }))
}

function firstValue(attributes: readonly SamlAttribute[], name: string): string | undefined {
  return attributes.find(({ names, values }) => names.includes(name) && values.length > 0)
    ?.values[0]
}

/** A transient id differs at every sign-in. Throws SamlError. */
function readNameId(assertion: XmlElement): { id?: string; email?: string } {
  const subjects = childrenNamed(assertion, 'assertion', 'Subject')
  const [nameId] = subjects.flatMap((subject) => childrenNamed(subject, 'assertion', 'NameID'))
  if (subjects.some((subject) => childrenNamed(subject, 'assertion', 'EncryptedID').length > 0)) {
    throw new SamlError(
      'its NameID is encrypted. Have the identity provider encrypt the assertion instead',
    )
  }
  if (!nameId) return {}
  const format = nameId.getAttribute('Format')
  const text = nameId.textContent ?? ''
  if (format === transientFormat || text.trim() === '') return {}
  if (format === wrongEmailFormat) return { id: text, email: text }
  if (format !== emailFormat) return { id: text }
  return { id: text.trim().toLowerCase(), email: text }
}

/** The first candidate must be an email address: another one might belong to another user. */
function findEmail(candidates: readonly unknown[]): string {
  const found = candidates.find((each) => typeof each === 'string' && each.trim() !== '')
  if (typeof found !== 'string') throw samlNoEmail()
  try {
    return normalizeEmail(found)
  } catch {
    throw samlNoEmail()
  }
}

// Maps attributes of an assertion to claims (`attribute_mapping`).

interface SamlAttribute {
  /** Name and FriendlyName. */
  names: string[]
  values: string[]
}

type SamlAttributeMapping = Static<typeof Schema>

/** The first name with a value, case-insensitively, as Name or FriendlyName; else the default. */
function mapAttributes(
  attributes: readonly SamlAttribute[],
  mapping: SamlAttributeMapping | null,
): Record<string, unknown> {
  const entries = Object.entries(mapping?.keys ?? {}).flatMap(
    ([claim, rule]): [string, unknown][] => {
      if (!isRecord(rule)) return []
      const names = [...(rule.name ? [rule.name] : []), ...(rule.names ?? [])]
      const values = names
        .map((name) => findValues(attributes, name))
        .find(({ length }) => length > 0)
      const value = values && (rule.array ? values : values[0])
      const chosen = value ?? rule.default
      return chosen === undefined ? [] : [[claim, chosen]]
    },
  )
  return Object.fromEntries(entries)
}

function findValues(attributes: readonly SamlAttribute[], attributeName: string): string[] {
  return attributes
    .filter(({ names }) => names.some((name) => name.toLowerCase() === attributeName.toLowerCase()))
    .flatMap(({ values }) => values)
}
