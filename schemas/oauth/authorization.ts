/** The JSON API of consent, for custom consent pages, and the grants of a user. */
import { type Static, Type } from '@sinclair/typebox'

import { Timestamp } from '../values/timestamp.ts'

const { Optional } = Type
const Text = Type.String()

export const AuthorizationPath = Type.Object({ authorization_id: Text })

const Client = Type.Object({
  id: Text,
  name: Optional(Text),
  uri: Optional(Text),
  logo_uri: Optional(Text),
})

/** The pending request, or the redirect when no consent is required. */
export const AuthorizationDetails = Type.Object(
  {
    authorization_id: Optional(Text),
    redirect_uri: Optional(Text),
    client: Optional(Client),
    user: Optional(Type.Object({ id: Text, email: Optional(Text) })),
    scope: Optional(Text),
    prompt: Optional(Text),
    max_age: Optional(Type.Integer()),
    acr_values: Optional(Text),
    login_hint: Optional(Text),
    resources: Optional(Type.Array(Text)),
    data_access: Optional(
      Type.Boolean({
        description:
          'The client gets tokens with the role of the user: it can read and change what your policies let the user read and change',
      }),
    ),
    claims: Optional(
      Type.Array(Text, { description: 'Claims requested individually, in addition to the scope' }),
    ),
    redirect_url: Optional(Text),
  },
  { title: 'OauthAuthorization' },
)
export type AuthorizationDetails = Static<typeof AuthorizationDetails>

export const ConsentBody = Type.Object({
  action: Optional(Type.String({ description: 'approve or deny' })),
})

export const RedirectUrl = Type.Object({ redirect_url: Text })

export const OauthGrant = Type.Object(
  {
    client: Type.Object({ id: Text, name: Text, uri: Text, logo_uri: Text }),
    scopes: Type.Array(Text),
    granted_at: Timestamp,
  },
  { title: 'OauthGrant' },
)
export type OauthGrant = Static<typeof OauthGrant>

interface GrantSource {
  id: string
  document_url: string | null
  client_name: string | null
  client_uri: string | null
  logo_uri: string | null
  scopes: string
  granted_at: Date
}

export function toGrant(row: GrantSource): OauthGrant {
  return {
    client: {
      id: row.document_url ?? row.id,
      name: row.client_name ?? '',
      uri: row.client_uri ?? '',
      logo_uri: row.logo_uri ?? '',
    },
    scopes: [...new Set(row.scopes.split(' ').filter(Boolean))],
    granted_at: row.granted_at.toISOString(),
  }
}
