/** The parameters of an authorization request, for the API document: unknown ones are ignored (RFC 6749 §3.1). */
import { Type } from '@sinclair/typebox'

import { choices } from '../documented.ts'
import { ClientFields } from './token.ts'

const { Optional } = Type
const text = (description: string) => Optional(Type.String({ description }))

/** RFC 6749 §4.1.1, RFC 7636 §4.3, RFC 8707 §2 and OpenID Connect Core §3.1.2.1. */
const parameters = {
  response_type: Optional(Type.String(choices('code'))),
  response_mode: text('How the response reaches the client'),
  redirect_uri: text('A registered redirect URI of the client'),
  scope: text('Separated by blanks'),
  state: text('Returned unchanged'),
  nonce: text('Returned in the ID token'),
  code_challenge: text('PKCE'),
  code_challenge_method: Optional(Type.String(choices('S256', 'plain'))),
  resource: Optional(
    Type.Array(Type.String(), { description: 'Resource servers that will receive the token' }),
  ),
  prompt: text('none, or several of login, consent, select_account and create'),
  max_age: text('Seconds since the last sign-in'),
  login_hint: text('Email address or username'),
  ui_locales: text('Languages, separated by blanks'),
  acr_values: text('Requested authentication context classes'),
  claims: text('Requested claims, as JSON'),
  id_token_hint: text('An earlier ID token of the user'),
}

export const AuthorizationParameters = Type.Object(
  {
    client_id: text('Required'),
    ...parameters,
    request_uri: text('The response of /oauth/par'),
  },
  { title: 'AuthorizationRequest' },
)

export const PushedParameters = Type.Object(
  { ...parameters, ...ClientFields },
  { title: 'PushedAuthorizationRequest' },
)

export const formOrJson = ['application/x-www-form-urlencoded', 'application/json']
