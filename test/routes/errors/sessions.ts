/** What the token endpoint, /user and /logout refuse. */
import { email, password, type WrongInputs } from './wrong-input.ts'

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
  'a grant type that every object has': {
    ...grant('constructor', {}),
    answer: unsupported,
  },
  'a grant type twice': {
    url: '/token?grant_type=password&grant_type=password',
    body: {},
    answer: unsupported,
  },
  'no address': { ...grant('password', { password }), answer: invalid('missing email or phone') },
  'both addresses': {
    ...grant('password', { email, phone: '4915112345678', password }),
    answer: invalid('Only an email address or phone number should be provided on login.'),
  },
  'a phone where phones are off': {
    ...grant('password', { phone: '4915112345678', password }),
    answer: [422, 'phone_provider_disabled', 'Phone logins are disabled'],
  },
  'nobody of this address': { ...grant('password', { email, password }), answer: wrong },
  'a user name in the place of an address': {
    ...grant('password', { email: 'ann', password }),
    answer: wrong,
  },
  'nobody, without a password': { ...grant('password', { email }), answer: wrong },
  'no refresh token': {
    ...grant('refresh_token', {}),
    answer: invalid('Refresh token is not valid'),
  },
  'an empty refresh token': {
    ...grant('refresh_token', { refresh_token: '' }),
    answer: invalid('Refresh token is not valid'),
  },
  'a refresh token without form': {
    ...grant('refresh_token', { refresh_token: "' or 1=1 --" }),
    answer: invalid('Refresh token is not valid'),
  },
  'a refresh token that is an access token': {
    ...grant('refresh_token', { refresh_token: 'eyJhbGciOiJub25lIn0.e30.' }),
    answer: invalid('Refresh token is not valid'),
  },
  'an older refresh token that nobody has': {
    ...grant('refresh_token', { refresh_token: 'abcdefghij23' }),
    answer: [400, 'refresh_token_not_found', 'Invalid Refresh Token: Refresh Token Not Found'],
  },
  'no auth code': { ...grant('pkce', { code_verifier: 'x' }), answer: emptyPkce },
  'no verifier': { ...grant('pkce', { auth_code: 'x' }), answer: emptyPkce },
  'an unknown auth code': {
    ...grant('pkce', { auth_code: 'x', code_verifier: 'x' }),
    answer: [404, 'flow_state_not_found', 'invalid flow state, no valid flow state found'],
  },
}

export const bearers: WrongInputs = {
  'no bearer': { url: '/user', method: 'GET', answer: noBearer },
  'an apikey is none': {
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
  'an empty bearer': { url: '/user', method: 'GET', ...authorization('Bearer '), answer: noBearer },
  'a bearer that is no token': {
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
  'another audience': {
    url: '/user',
    method: 'GET',
    headers: { 'x-jwt-aud': 'others' },
    signedIn: true,
    answer: invalid("Token audience doesn't match request audience"),
  },
  'signing out without a bearer': { url: '/logout', method: 'POST', answer: noBearer },
  'an unknown scope of signing out': {
    url: '/logout?scope=zz',
    method: 'POST',
    signedIn: true,
    answer: invalid('Unsupported logout scope "zz"'),
  },
  'no devices without a bearer': { url: '/sessions', method: 'GET', answer: noBearer },
  'a device that is no id': {
    url: '/sessions/x',
    method: 'DELETE',
    signedIn: true,
    answer: [404, 'validation_failed'],
  },
  'a device that is not mine': {
    url: '/sessions/00000000-0000-4000-8000-000000000000',
    method: 'DELETE',
    signedIn: true,
    answer: [404, 'session_not_found'],
  },
  'an admin path as a person': {
    url: '/admin/users/00000000-0000-4000-8000-000000000000/sessions',
    method: 'GET',
    signedIn: true,
    answer: [403, 'not_admin', 'User not allowed'],
  },
}
