/** What every endpoint refuses alike, tried on some of them. */
import { email, password, type WrongInputs } from './wrong-input.ts'

const notJson = /^Could not parse request body as JSON: /
const json = { 'content-type': 'application/json' }
const signup = (body: object | string | Buffer) => ({ url: '/signup', body })
const signupText = (text: string | Buffer) => ({ url: '/signup', body: text, headers: json })
const deep = (depth: number) => `{"data":${'['.repeat(depth)}${']'.repeat(depth)}}`

export const transport: WrongInputs = {
  'an unknown path': { url: '/nothing-here', method: 'GET', answer: [404, 'not_found'] },
  'the root': { url: '/', method: 'GET', answer: [404, 'not_found'] },
  'an unknown path by POST': { url: '/nothing', body: {}, answer: [404, 'not_found'] },
  'an unknown path by OPTIONS': { url: '/nothing', method: 'OPTIONS', answer: [404, 'not_found'] },
  'a slash too many on a leaf': { url: '/token/', body: {}, answer: [404, 'not_found'] },
  'a slash too many on another leaf': {
    url: '/settings/',
    method: 'GET',
    answer: [404, 'not_found'],
  },
  'a wrong method': { url: '/signup', method: 'GET', answer: [405, 'method_not_allowed'] },
  'a wrong method with a body': {
    url: '/user',
    body: { data: {} },
    answer: [405, 'method_not_allowed'],
  },
  'QUERY, of which Fastify wants a body first': {
    url: '/settings',
    method: 'QUERY',
    answer: [405, 'method_not_allowed'],
  },
  'QUERY of nothing': { url: '/nothing', method: 'QUERY', answer: [404, 'not_found'] },
  HEAD: { url: '/settings', method: 'HEAD', answer: [405, 'method_not_allowed'] },
  'OPTIONS that is no preflight': {
    url: '/token',
    method: 'OPTIONS',
    headers: { origin: 'https://app.example' },
    answer: [405, 'method_not_allowed'],
  },
  'a broken percent sign in the path': {
    url: '/admin/%zz',
    method: 'GET',
    answer: [400, 'validation_failed'],
  },
  'a percent sign that is no UTF-8': {
    url: '/%ff%fe',
    method: 'GET',
    answer: [400, 'validation_failed'],
  },
  'no body': { url: '/signup', answer: [400, 'bad_json', notJson] },
  'no body with a content type': { ...signupText(''), answer: [400, 'bad_json', notJson] },
  'blanks for a body': { ...signupText(' \n'), answer: [400, 'bad_json', notJson] },
  'malformed JSON': { ...signupText('{"email":'), answer: [400, 'bad_json', notJson] },
  'something after the JSON': { ...signupText('{}{}'), answer: [400, 'bad_json', notJson] },
  'an array': { ...signup([]), answer: [400, 'bad_json', notJson] },
  'a text': { ...signupText('"text"'), answer: [400, 'bad_json', notJson] },
  'a number': { ...signupText('7'), answer: [400, 'bad_json', notJson] },
  'a field of the wrong type': {
    ...signup({ email: 7, password }),
    answer: [400, 'bad_json', notJson],
  },
  'an object for a text': {
    ...signup({ email: { $ne: '' }, password }),
    answer: [400, 'bad_json', notJson],
  },
  'a text for an object': {
    ...signup({ email, password, data: 'x' }),
    answer: [400, 'bad_json', notJson],
  },
  'a list for an object': {
    ...signup({ email, password, data: [] }),
    answer: [400, 'bad_json', notJson],
  },
  'NUL in a text': {
    ...signup({ email, password, data: { a: 'x\0y' } }),
    answer: [400, 'bad_json', notJson],
  },
  'NUL in a key': {
    ...signup({ email, password, data: { 'a\0': 1 } }),
    answer: [400, 'bad_json', notJson],
  },
  'half a character': {
    ...signupText(`{"email":"${email}","password":"${password}","data":{"a":"\\ud800"}}`),
    answer: [400, 'bad_json', notJson],
  },
  'half a character in a form': {
    url: '/token?grant_type=pkce',
    body: 'auth_code=%00&code_verifier=x',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    answer: [400, 'bad_json', notJson],
  },
  'nesting without end': { ...signupText(deep(100_000)), answer: [400, 'bad_json', notJson] },
  'more than 1 MiB': {
    ...signupText(`{"email":"${'x'.repeat(1_048_576)}"}`),
    answer: [413, 'request_entity_too_large', 'Request body too large (max 1048576 bytes)'],
  },
  'null for a body is an empty object': {
    ...signupText('null'),
    answer: [422, 'anonymous_provider_disabled'],
  },
  'null for a field is no field': {
    ...signup({ email: null, phone: null, password, data: null }),
    answer: [422, 'anonymous_provider_disabled'],
  },
  'keys in capitals are the same keys': {
    ...signup({ EMAIL: 'nonsense', PassWord: password }),
    answer: [400, 'validation_failed', 'Unable to validate email address: invalid format'],
  },
  'unknown keys are passed over': {
    ...signup({ email: 'nonsense', password, __proto__: null, constructor: 1, more: [] }),
    answer: [400, 'validation_failed', 'Unable to validate email address: invalid format'],
  },
  'any content type is read as JSON': {
    url: '/signup',
    headers: { 'content-type': 'text/plain' },
    body: JSON.stringify({ email: 'nonsense', password }),
    answer: [400, 'validation_failed', 'Unable to validate email address: invalid format'],
  },
  ...Object.fromEntries(
    ['application/json, application/json', 'json', ''].map((type) => [
      `so is one that is none: ${JSON.stringify(type)}`,
      {
        url: '/signup',
        headers: { 'content-type': type },
        body: JSON.stringify({ email: 'nonsense', password }),
        answer: [400, 'validation_failed', 'Unable to validate email address: invalid format'],
      },
    ]),
  ),
  'a form is read as one': {
    url: '/signup',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: `email=nonsense&password=${encodeURIComponent(password)}`,
    answer: [400, 'validation_failed', 'Unable to validate email address: invalid format'],
  },
}
