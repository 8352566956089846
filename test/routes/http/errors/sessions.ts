/** Requests that the token endpoint, /user and /logout reject. */
import { email, password, type WrongInputs } from './invalid-request.ts'

const grant = (type: string, body: object) => ({ url: `/token?grant_type=${type}`, body })
const invalid = (message: string): [400, 'validation_failed', string] => [
  400,
  'validation_failed',
  message,
]
const emptyPkce = invalid('invalid request: both auth code and code verifier should be non-empty')
const wrong: [400, string, string] = [400, 'invalid_credentials', 'Invalid login credentials']
const unsupported: [400, string, string] = [400, 'invalid_credentials', 'unsupported_grant_type']
const noBearer: [401, string, string] = [
  401,
  'no_authorization',
  'This endpoint requires a valid Bearer token',
]
const authorization = (value: string) => ({ headers: { authorization: value } })

export const tokens: WrongInputs = {
  'no grant type': { url: '/token', body: {}, answer: unsupported },
  'an unknown grant type': { ...grant('zz', {}), answer: unsupported },
  'a grant type named like an Object property': {
    ...grant('constructor', {}),
    answer: unsupported,
  },
  'two grant types': {
    url: '/token?grant_type=password&grant_type=password',
    body: {},
    answer: unsupported,
  },
  'no email and no phone': {
    ...grant('password', { password }),
    answer: invalid('missing email or phone'),
  },
  'an email and a phone': {
    ...grant('password', { email, phone: '4915112345678', password }),
    answer: invalid('Only an email address or phone number should be provided on login.'),
  },
  'a phone when phones are disabled': {
    ...grant('password', { phone: '4915112345678', password }),
    answer: [
      422,
      'phone_provider_disabled',
      'Phone logins are disabled: set AUTH_EXTERNAL_PHONE_ENABLED=true',
    ],
  },
  'an unknown email': { ...grant('password', { email, password }), answer: wrong },
  'a user name instead of an email': {
    ...grant('password', { email: 'ann', password }),
    answer: wrong,
  },
  'an unknown email without a password': { ...grant('password', { email }), answer: wrong },
  'no refresh token': {
    ...grant('refresh_token', {}),
    answer: invalid('Refresh token is not valid'),
  },
  'an empty refresh token': {
    ...grant('refresh_token', { refresh_token: '' }),
    answer: invalid('Refresh token is not valid'),
  },
  'a malformed refresh token': {
    ...grant('refresh_token', { refresh_token: "' or 1=1 --" }),
    answer: invalid('Refresh token is not valid'),
  },
  'an access token as refresh token': {
    ...grant('refresh_token', { refresh_token: 'eyJhbGciOiJub25lIn0.e30.' }),
    answer: invalid('Refresh token is not valid'),
  },
  'an unknown legacy refresh token': {
    ...grant('refresh_token', { refresh_token: 'abcdefghij23' }),
    answer: [400, 'refresh_token_not_found', 'Invalid Refresh Token: Refresh Token Not Found'],
  },
  'no auth code': { ...grant('pkce', { code_verifier: 'x' }), answer: emptyPkce },
  'no code verifier': { ...grant('pkce', { auth_code: 'x' }), answer: emptyPkce },
  'an unknown auth code': {
    ...grant('pkce', { auth_code: 'x', code_verifier: 'x' }),
    answer: [404, 'flow_state_not_found', 'invalid flow state, no valid flow state found'],
  },
}

export const bearers: WrongInputs = {
  'no Authorization header': { url: '/user', method: 'GET', answer: noBearer },
  'an apikey header only': {
    url: '/user',
    method: 'GET',
    headers: { apikey: 'x' },
    answer: noBearer,
  },
  'another scheme': {
    url: '/user',
    method: 'GET',
    ...authorization('Basic eA=='),
    answer: noBearer,
  },
  'a token without a scheme': {
    url: '/user',
    method: 'GET',
    ...authorization('eyJhbGciOiJub25lIn0.e30.'),
    answer: noBearer,
  },
  'an empty bearer': { url: '/user', method: 'GET', ...authorization('Bearer '), answer: noBearer },
  'a malformed bearer token': {
    url: '/user',
    method: 'GET',
    ...authorization('Bearer nonsense'),
    answer: [403, 'bad_jwt', /^invalid JWT: unable to parse or verify signature/],
  },
  'an unsigned token': {
    url: '/user',
    method: 'GET',
    ...authorization('Bearer eyJhbGciOiJub25lIn0.e30.'),
    answer: [403, 'bad_jwt', /^invalid JWT: unable to parse or verify signature/],
  },
  'a user of another audience': {
    url: '/user',
    method: 'GET',
    headers: { 'x-jwt-aud': 'others' },
    signedIn: true,
    answer: invalid("Token audience doesn't match request audience"),
  },
  'an identity of a user of another audience': {
    url: '/user/identities/2f6c1f0e-8f0b-4a39-9b1c-3a6d9a7f5e21',
    method: 'DELETE',
    headers: { 'x-jwt-aud': 'others' },
    signedIn: true,
    answer: [403, 'unexpected_audience', "Token audience doesn't match request audience"],
  },
  'logout without a bearer token': { url: '/logout', method: 'POST', answer: noBearer },
  'an unknown logout scope': {
    url: '/logout?scope=zz',
    method: 'POST',
    signedIn: true,
    answer: invalid('Unsupported logout scope "zz"'),
  },
  'session list without a bearer token': { url: '/sessions', method: 'GET', answer: noBearer },
  'a malformed session id': {
    url: '/sessions/x',
    method: 'DELETE',
    signedIn: true,
    answer: [404, 'validation_failed'],
  },
  'a session of another user': {
    url: '/sessions/00000000-0000-4000-8000-000000000000',
    method: 'DELETE',
    signedIn: true,
    answer: [404, 'session_not_found'],
  },
  'an admin endpoint with a user token': {
    url: '/admin/users/00000000-0000-4000-8000-000000000000/sessions',
    method: 'GET',
    signedIn: true,
    answer: [403, 'not_admin', 'User not allowed'],
  },
}
