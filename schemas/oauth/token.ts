/** Token, revocation and introspection endpoints of OAuth clients. */
import { type Static, Type } from '@sinclair/typebox'

const { Optional } = Type
const Text = Type.String()

/** Client authentication in a body. */
export const ClientFields = {
  client_id: Optional(Text),
  client_secret: Optional(Text),
  client_assertion: Optional(Text),
  client_assertion_type: Optional(Text),
}

const Resource = Optional(Type.Union([Text, Type.Array(Text)]))

export const OauthTokenRequest = Type.Object(
  {
    grant_type: Optional(Text),
    code: Optional(Text),
    redirect_uri: Optional(Text),
    code_verifier: Optional(Text),
    refresh_token: Optional(Text),
    device_code: Optional(Text),
    scope: Optional(Text),
    resource: Resource,
    ...ClientFields,
  },
  { title: 'OauthTokenRequest' },
)
export type OauthTokenRequest = Static<typeof OauthTokenRequest>

export const OauthTokens = Type.Object(
  {
    access_token: Text,
    token_type: Text,
    expires_in: Type.Integer(),
    refresh_token: Optional(Text),
    id_token: Optional(Text),
    scope: Optional(Text),
  },
  { title: 'OauthTokens' },
)

/** The resources of a request: none, one or several. */
export function requestedResources({ resource }: Pick<OauthTokenRequest, 'resource'>): string[] {
  return [resource ?? []].flat()
}
