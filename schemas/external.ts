/** Parameters of the endpoints for external providers, for the API document: other names are passed on. */
import { Type } from '@sinclair/typebox'

import { choices } from './documented.ts'
import { PkceFields } from './fields.ts'

const { Optional } = Type

export const AuthorizeQuery = Type.Object({
  provider: Type.String({
    description: 'Name of a provider, such as google. GET /settings lists those that are enabled.',
  }),
  scopes: Optional(
    Type.String({ description: 'Beyond the default ones, separated by commas or blanks' }),
  ),
  redirect_to: Optional(Type.String({ description: 'The final redirect target' })),
  ...PkceFields,
  invite_token: Optional(
    Type.String({ description: 'The token of an invitation that this sign-in accepts' }),
  ),
  bind_browser: Optional(
    Type.String({ description: 'Binds the sign-in to this browser', ...choices('true') }),
  ),
})

export const LinkQuery = Type.Object({
  ...AuthorizeQuery.properties,
  skip_http_redirect: Optional(
    Type.String({
      description: 'Return the URL in the body instead of redirecting',
      ...choices('true'),
    }),
  ),
})

/** A provider sends either a code or an error (RFC 6749 §4.1.2), or the parameters of OAuth 1.0a. */
export const CallbackQuery = Type.Object({
  state: Optional(Type.String({ description: 'The state from /authorize' })),
  code: Optional(Type.String({ description: 'Authorization code' })),
  iss: Optional(Type.String({ description: 'The issuer of the response (RFC 9207)' })),
  error: Optional(Type.String()),
  error_description: Optional(Type.String()),
  oauth_token: Optional(Type.String({ description: 'OAuth 1.0a' })),
  oauth_verifier: Optional(Type.String({ description: 'OAuth 1.0a' })),
  denied: Optional(Type.String({ description: 'OAuth 1.0a: the user declined' })),
  user: Optional(Type.String({ description: 'Apple: the name at the first sign-in, as JSON' })),
})
