import { Type } from '@sinclair/typebox'

import { duration, flag, group, list, secret, text, url, whole } from '../fields.ts'

const { Optional } = Type

export const core = group('Addresses and network', {
  AUTH_SITE_URL: url(
    'Address of the site whose people sign in here. Links in mail lead back to it, and a `redirect_to` on the same host is allowed.',
    { 'x-type': 'site', 'x-example': 'https://app.example.com' },
  ),
  AUTH_URI_ALLOW_LIST: list(
    'Further places a `redirect_to` may lead to. `*` stands for part of one path or host segment, `**` for any number of them.',
    { default: [], 'x-example': 'https://*.example.com/**,myapp://callback' },
  ),
  AUTH_API_EXTERNAL_URL: url(
    'Address under which this server is reached from outside. Links in mail and the `iss` claim are made from it.',
    { 'x-gotrue-names': ['API_EXTERNAL_URL'], 'x-example': 'https://auth.example.com' },
  ),
  AUTH_API_HOST: Optional(
    text('Host name or address to listen on.', { 'x-default-text': 'every address' }),
  ),
  PORT: whole('Port to listen on.', {
    default: 8081,
    maximum: 65535,
    'x-aliases': ['AUTH_API_PORT'],
  }),
  AUTH_API_PREFIX: text(
    'Every path also answers under this prefix, as client SDKs expect behind a gateway. `/` turns it off.',
    { default: '/auth/v1', 'x-type': 'prefix' },
  ),
  AUTH_API_MAX_REQUEST_DURATION: duration(
    'A request that takes longer is answered with 504 and ends: the statement that runs is cancelled, and nothing further of it is written.',
    { default: '10s', exclusiveMinimum: 0, 'x-timer': true },
  ),
  AUTH_WORKERS: whole('HTTP processes that share the port, for machines with many cores.', {
    default: 1,
    minimum: 1,
    maximum: 256,
  }),
  AUTH_SHUTDOWN_DELAY: duration(
    'On SIGTERM, the time that load balancers get to notice: `/ready` says no and connections end with their next answer. Over as soon as nobody is connected.',
    { default: '5s', maximum: 300 },
  ),
  AUTH_CORS_ALLOWED_HEADERS: list(
    'Request headers that browsers may send besides the built-in ones.',
    { default: [], 'x-type': 'header-names' },
  ),
  AUTH_REQUEST_ID_HEADER: Optional(
    text('Request header that carries a request id given by a proxy.', {
      'x-gotrue-names': ['REQUEST_ID_HEADER'],
      'x-type': 'header',
    }),
  ),
  AUTH_TRUSTED_PROXIES: list(
    'Addresses and networks of your proxies, or `none`. Only from them are headers believed that name a client address (`X-Forwarded-For`, `Proxy-Forwarded-For`, AUTH_RATE_LIMIT_HEADER); of a chain, the last entry that is none of them is the client.',
    {
      default: ['127.0.0.0/8', '::1'],
      'x-type': 'networks',
      'x-example': '127.0.0.0/8,::1,10.0.0.0/8',
    },
  ),
  AUTH_SECURITY_PROXY_FORWARDED_FOR_ENABLED: flag(
    'Takes the client address from the first entry of the `Proxy-Forwarded-For` header, when a proxy of AUTH_TRUSTED_PROXIES sends it. Only for proxies that set that header themselves.',
    false,
    {
      'x-gotrue-names': [
        'AUTH_SECURITY_SB_FORWARDED_FOR_ENABLED',
        'GOTRUE_SECURITY_SB_FORWARDED_FOR_ENABLED',
        'SECURITY_SB_FORWARDED_FOR_ENABLED',
      ],
    },
  ),
  AUTH_REDIS_URL: Optional(
    secret(
      'Redis or Valkey in which replicas share their rate-limit counters. Without it each counts alone.',
      { 'x-type': 'redis-url', 'x-example': 'redis://localhost:6379' },
    ),
  ),
})

export const outgoing = group('Outgoing requests', {
  AUTH_INTERNAL_HTTP_TIMEOUT: duration('Longest wait for a provider or another outside server.', {
    default: '10s',
    exclusiveMinimum: 0,
    'x-timer': true,
  }),
  HTTPS_PROXY: Optional(
    secret('Proxy for outgoing https requests.', {
      'x-type': 'url',
      'x-aliases': ['https_proxy'],
    }),
  ),
  HTTP_PROXY: Optional(
    secret('Proxy for outgoing http requests.', { 'x-type': 'url', 'x-aliases': ['http_proxy'] }),
  ),
  NO_PROXY: Optional(
    text(
      'Hosts, separated by commas, that are reached without the proxy, as this machine always is.',
      {
        'x-aliases': ['no_proxy'],
      },
    ),
  ),
})

export const signup = group('Who may sign up', {
  AUTH_DISABLE_SIGNUP: flag('New people can only be invited or made by an admin.', false),
  AUTH_EXTERNAL_EMAIL_ENABLED: flag('Sign-up and sign-in with an e-mail address.', true),
  AUTH_EXTERNAL_PHONE_ENABLED: flag(
    'Sign-up and sign-in with a phone number. Needs an SMS provider, or test numbers, or automatic confirmation.',
    false,
  ),
  AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED: flag(
    'Sign-in without any address; the account can become a permanent one later.',
    false,
  ),
  AUTH_EXTERNAL_EMAIL_MAGIC_LINK_ENABLED: flag('Sign-in by a mailed link or code.', true),
  AUTH_EXTERNAL_EMAIL_AUTHORIZED_ADDRESSES: list(
    'When set, mail goes to these addresses only (a `+label` does not matter).',
    { default: [] },
  ),
  AUTH_USER_SELF_DELETE_ENABLED: flag(
    'People may delete their own account by `DELETE /user`.',
    false,
  ),
  AUTH_USER_METADATA_MAX_BYTES: whole(
    'Most bytes of JSON that the user_metadata of a person may have, and the app_metadata. A token carries both, so that far less is wise.',
    { default: 65_536, minimum: 1024, maximum: 1_048_576 },
  ),
})
