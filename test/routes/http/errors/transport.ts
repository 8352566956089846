/** Errors common to all endpoints, tested on some of them. */
import { email, password, type WrongInputs } from './invalid-request.ts'

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
  'a trailing slash': { url: '/token/', body: {}, answer: [404, 'not_found'] },
  'a trailing slash on a GET endpoint': {
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
  'QUERY without a body, which Fastify checks before the route': {
    url: '/settings',
    method: 'QUERY',
    answer: [405, 'method_not_allowed'],
  },
  'QUERY of an unknown path': { url: '/nothing', method: 'QUERY', answer: [404, 'not_found'] },
  HEAD: { url: '/settings', method: 'HEAD', answer: [405, 'method_not_allowed'] },
  'OPTIONS that is not a preflight': {
    url: '/token',
    method: 'OPTIONS',
    headers: { origin: 'https://app.example' },
    answer: [405, 'method_not_allowed'],
  },
  'malformed percent-encoding in the path': {
    url: '/admin/%zz',
    method: 'GET',
    answer: [400, 'validation_failed'],
  },
  'percent-encoding that is not UTF-8': {
    url: '/%ff%fe',
    method: 'GET',
    answer: [400, 'validation_failed'],
  },
  'no body': { url: '/signup', answer: [400, 'bad_json', notJson] },
  'no body with a content type': { ...signupText(''), answer: [400, 'bad_json', notJson] },
  'a blank body': { ...signupText(' \n'), answer: [400, 'bad_json', notJson] },
  'malformed JSON': { ...signupText('{"email":'), answer: [400, 'bad_json', notJson] },
  'trailing data after the JSON': { ...signupText('{}{}'), answer: [400, 'bad_json', notJson] },
  'an array': { ...signup([]), answer: [400, 'bad_json', notJson] },
  'a string': { ...signupText('"text"'), answer: [400, 'bad_json', notJson] },
  'a number': { ...signupText('7'), answer: [400, 'bad_json', notJson] },
  'a field of the wrong type': {
    ...signup({ email: 7, password }),
    answer: [400, 'bad_json', notJson],
  },
  'an object instead of a string': {
    ...signup({ email: { $ne: '' }, password }),
    answer: [400, 'bad_json', notJson],
  },
  'a string instead of an object': {
    ...signup({ email, password, data: 'x' }),
    answer: [400, 'bad_json', notJson],
  },
  'an array instead of an object': {
    ...signup({ email, password, data: [] }),
    answer: [400, 'bad_json', notJson],
  },
  'NUL in a string': {
    ...signup({ email, password, data: { a: 'x\0y' } }),
    answer: [400, 'bad_json', notJson],
  },
  'NUL in a key': {
    ...signup({ email, password, data: { 'a\0': 1 } }),
    answer: [400, 'bad_json', notJson],
  },
  'a lone surrogate': {
    ...signupText(`{"email":"${email}","password":"${password}","data":{"a":"\\ud800"}}`),
    answer: [400, 'bad_json', notJson],
  },
  'NUL in a form': {
    url: '/token?grant_type=pkce',
    body: 'auth_code=%00&code_verifier=x',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    answer: [400, 'bad_json', notJson],
  },
  'a number beyond double precision': {
    ...signupText(`{"email":"${email}","password":"${password}","data":{"a":[1e400]}}`),
    answer: [400, 'bad_json', notJson],
  },
  'excessive nesting': { ...signupText(deep(60_000)), answer: [400, 'bad_json', notJson] },
  'more than 128 KiB': {
    ...signupText(`{"email":"${'x'.repeat(131_072)}"}`),
    answer: [413, 'request_entity_too_large', 'Request body too large (max 131072 bytes)'],
  },
  'null as body is read as an empty object': {
    ...signupText('null'),
    answer: [422, 'anonymous_provider_disabled'],
  },
  'null as field is read as missing': {
    ...signup({ email: null, phone: null, password, data: null }),
    answer: [422, 'anonymous_provider_disabled'],
  },
  'keys are case-insensitive': {
    ...signup({ EMAIL: 'nonsense', PassWord: password }),
    answer: [400, 'validation_failed', 'Unable to validate email address: invalid format'],
  },
  'unknown keys are ignored': {
    ...signup({ email: 'nonsense', password, __proto__: null, constructor: 1, more: [] }),
    answer: [400, 'validation_failed', 'Unable to validate email address: invalid format'],
  },
  'each content type is parsed as JSON': {
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
  'a form is parsed as a form': {
    url: '/signup',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: `email=nonsense&password=${encodeURIComponent(password)}`,
    answer: [400, 'validation_failed', 'Unable to validate email address: invalid format'],
  },
}
