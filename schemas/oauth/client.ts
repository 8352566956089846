/** OAuth clients in admin and registration requests (RFC 7591 §2). */
import { type Static, Type } from '@sinclair/typebox'

import { StringEnum } from '../values/choices.ts'
import { Timestamp } from '../values/timestamp.ts'

const { Optional } = Type
const Text = Type.String()
const Texts = Type.Array(Text)

export const authMethods = [
  'client_secret_basic',
  'client_secret_post',
  'none',
  'private_key_jwt',
] as const

/** Algorithms for private_key_jwt. */
export const assertionAlgorithms = ['RS256', 'PS256', 'ES256', 'EdDSA']

export const deviceGrant = 'urn:ietf:params:oauth:grant-type:device_code'
export const grantTypes = ['authorization_code', 'refresh_token', deviceGrant]

const ClientType = StringEnum(['public', 'confidential'], {
  description: 'A public client cannot keep a secret',
})

/** Client metadata that a client may set; other fields of RFC 7591 are ignored. */
const selfDescription = {
  redirect_uris: Optional(Texts),
  token_endpoint_auth_method: Optional(Text),
  grant_types: Optional(Texts),
  response_types: Optional(Texts),
  client_name: Optional(Text),
  client_uri: Optional(Text),
  logo_uri: Optional(Text),
  scope: Optional(Type.String({ description: 'Scopes the client may request; all when absent' })),
  jwks: Optional(
    Type.Object(
      { keys: Type.Array(Type.Record(Text, Type.Unknown())) },
      {
        description: 'Public keys for private_key_jwt',
      },
    ),
  ),
  jwks_uri: Optional(Text),
  post_logout_redirect_uris: Optional(Texts),
  require_pushed_authorization_requests: Optional(Type.Boolean()),
  id_token_signed_response_alg: Optional(Text),
  default_max_age: Optional(Type.Integer({ minimum: 0 })),
  contacts: Optional(Texts),
  policy_uri: Optional(Text),
  tos_uri: Optional(Text),
  application_type: Optional(StringEnum(['web', 'native'])),
  software_id: Optional(Text),
  software_version: Optional(Text),
}

/** Fields that only the operator may set. */
const operatorFields = {
  require_pkce: Optional(
    Type.Boolean({
      description: 'If false, a confidential client may omit PKCE',
    }),
  ),
  resources: Optional(
    Type.Array(Text, { description: 'Resource servers the client may get tokens for (RFC 8707)' }),
  ),
  include_default_audience: Optional(
    Type.Boolean({
      description: 'If false, tokens for a resource are valid for that resource only',
    }),
  ),
}

export const ClientRegistration = Type.Object(
  { ...selfDescription, client_type: Optional(ClientType) },
  { title: 'OauthClientRegistration' },
)
export type ClientRegistration = Static<typeof ClientRegistration>

/** Keeps the fields that a client may set. */
export function selfDescribed(fields: object): ClientRegistration {
  const known = Object.entries(fields).filter(([name]) => name in ClientRegistration.properties)
  return Object.fromEntries(known)
}

export const NewOauthClient = Type.Object(
  { ...ClientRegistration.properties, ...operatorFields },
  { title: 'OauthClientCreation' },
)
export type NewOauthClient = Static<typeof NewOauthClient>

/** All fields are optional; an absent field stays unchanged. */
export const OauthClientChange = Type.Object(
  { ...selfDescription, ...operatorFields },
  { title: 'OauthClientChange' },
)
export type OauthClientChange = Static<typeof OauthClientChange>

export const OauthClient = Type.Object(
  {
    client_id: Type.String({ description: 'A UUID, or the URL of a client metadata document' }),
    client_secret: Optional(Type.String({ description: 'Only shown at creation' })),
    client_secret_expires_at: Optional(
      Type.Integer({ description: '0 means that it does not expire' }),
    ),
    client_id_issued_at: Optional(Type.Integer()),
    registration_access_token: Optional(Text),
    registration_client_uri: Optional(Text),
    client_type: ClientType,
    registration_type: StringEnum(['dynamic', 'manual']),
    ...selfDescription,
    redirect_uris: Texts,
    token_endpoint_auth_method: Text,
    grant_types: Texts,
    response_types: Texts,
    ...operatorFields,
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'OauthClient' },
)
export type OauthClient = Static<typeof OauthClient>

export const OauthClientPath = Type.Object({ client_id: Type.String() })

export const OauthClients = Type.Object({ clients: Type.Array(OauthClient) })
