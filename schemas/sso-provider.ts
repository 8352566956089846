/** SAML identity providers in admin requests and responses. */
import { type Static, Type } from '@sinclair/typebox'

import { nullable, StringEnum } from './values/choices.ts'
import { Timestamp, toTimestamp } from './values/timestamp.ts'

export const AttributeMapping = Type.Object({
  keys: Type.Optional(
    Type.Record(
      Type.String(),
      Type.Object({
        name: Type.Optional(Type.String({ description: 'Name or FriendlyName of an attribute' })),
        names: Type.Optional(Type.Array(Type.String(), { description: 'Tried in this order' })),
        default: Type.Optional(Type.Unknown({ description: 'When no attribute has a value' })),
        array: Type.Optional(Type.Boolean({ description: 'All values instead of the first' })),
      }),
    ),
  ),
})

const IdpInitiated = StringEnum(['default', 'allow', 'deny'], {
  description:
    'Sign-ins that start at the identity provider; by default AUTH_SAML_ALLOW_IDP_INITIATED applies',
})

export const SsoProviderInput = Type.Object({
  type: Type.Optional(Type.String({ description: 'saml; required at creation' })),
  metadata_xml: Type.Optional(Type.String()),
  metadata_url: Type.Optional(Type.String({ maxLength: 2048, description: 'https only' })),
  domains: Type.Optional(
    Type.Array(Type.String({ maxLength: 253 }), {
      maxItems: 200,
      description: 'Domains of email addresses; an empty list removes all',
    }),
  ),
  attribute_mapping: Type.Optional(AttributeMapping),
  name_id_format: Type.Optional(Type.String()),
  idp_initiated: Type.Optional(IdpInitiated),
  resource_id: Type.Optional(
    Type.String({ maxLength: 255, description: 'A custom id; "" removes it' }),
  ),
  disabled: Type.Optional(Type.Boolean()),
})
export type SsoProviderInput = Static<typeof SsoProviderInput>

export const SsoProvider = Type.Object(
  {
    id: Type.String({ format: 'uuid' }),
    resource_id: Type.Optional(Type.String()),
    disabled: nullable(Type.Boolean()),
    saml: Type.Object({
      entity_id: Type.String(),
      metadata_xml: Type.Optional(Type.String()),
      metadata_url: Type.Optional(Type.String()),
      attribute_mapping: Type.Optional(AttributeMapping),
      name_id_format: Type.Optional(Type.String()),
      idp_initiated: IdpInitiated,
    }),
    domains: Type.Array(Type.Object({ domain: Type.String() })),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'SsoProvider' },
)
export type SsoProvider = Static<typeof SsoProvider>

interface SsoProviderSource {
  id: string
  resource_id: string | null
  disabled: boolean | null
  entity_id: string
  metadata_xml: string
  metadata_url: string | null
  attribute_mapping: Record<string, unknown> | null
  name_id_format: string | null
  idp_initiated: 'allow' | 'deny' | null
  domains: string[]
  created_at: Date | null
  updated_at: Date | null
}

/** Lists omit the metadata. */
export function toSsoProvider(row: SsoProviderSource, { withMetadata = true } = {}): SsoProvider {
  return {
    id: row.id,
    ...(row.resource_id && { resource_id: row.resource_id }),
    disabled: row.disabled,
    saml: {
      entity_id: row.entity_id,
      ...(withMetadata && { metadata_xml: row.metadata_xml }),
      ...(row.metadata_url && { metadata_url: row.metadata_url }),
      ...(row.attribute_mapping && { attribute_mapping: row.attribute_mapping }),
      ...(row.name_id_format && { name_id_format: row.name_id_format }),
      idp_initiated: row.idp_initiated ?? 'default',
    },
    domains: row.domains.map((domain) => ({ domain })),
    created_at: toTimestamp(row.created_at ?? new Date(0)),
    updated_at: toTimestamp(row.updated_at ?? new Date(0)),
  }
}

/** The audit payload of a provider. */
export function auditedSsoProvider(row: SsoProviderSource): Record<string, unknown> {
  const { id, created_at, updated_at, ...fields } = toSsoProvider(row)
  return fields
}
