import { Type } from '@sinclair/typebox'

import {
  booleanField,
  duration,
  group,
  integerField,
  listField,
  secret,
  textField,
  url,
} from '../core/fields.ts'

const { Optional } = Type

export const core = group('Addresses and network', {
  AUTH_SITE_URL: url(
    'Address of your site. Links in emails lead back to it, and a `redirect_to` on the same host is allowed.',
    { 'x-type': 'site', 'x-example': 'https://app.example.com' },
  ),
  AUTH_URI_ALLOW_LIST: listField(
    'Further allowed targets of `redirect_to`. `*` matches a part of one host or path segment, `**` matches any number of segments.',
    { default: [], 'x-example': 'https://*.example.com/**,myapp://callback' },
  ),
  AUTH_API_EXTERNAL_URL: url(
    'Public address of this server. It is the base of links in emails and the default `iss` claim.',
    {
      'x-gotrue-names': ['API_EXTERNAL_URL', 'GOTRUE_API_API_EXTERNAL_URL'],
      'x-example': 'https://auth.example.com',
    },
  ),
  AUTH_API_HOST: Optional(
    textField('Host name or address to listen on.', { 'x-default-text': 'every address' }),
  ),
  PORT: integerField('Port to listen on.', {
    default: 8081,
    maximum: 65535,
    'x-aliases': ['AUTH_API_PORT'],
  }),
  AUTH_API_PREFIX: textField(
    'Every path is also served under this prefix, which client SDKs use. `/` turns it off.',
    { default: '/auth/v1', 'x-type': 'prefix' },
  ),
  AUTH_API_MAX_REQUEST_DURATION: duration(
    'Maximum duration of a request. A longer one gets status 504: its running statement is cancelled and its transaction is rolled back.',
    { default: '10s', exclusiveMinimum: 0, 'x-timer': true },
  ),
  AUTH_WORKERS: integerField(
    'Number of HTTP processes that share the port, for machines with many cores.',
    {
      default: 1,
      minimum: 1,
      maximum: 256,
    },
  ),
  AUTH_SHUTDOWN_DELAY: duration(
    'Time for load balancers to notice a shutdown after SIGTERM: `/ready` responds with 503 and connections close after their next response. It ends early when no connection is open.',
    { default: '5s', maximum: 300 },
  ),
  AUTH_CORS_ALLOWED_HEADERS: listField(
    'Request headers that browsers may send in addition to the built-in ones.',
    { default: [], 'x-type': 'header-names' },
  ),
  AUTH_EXPERIMENTAL_CURSOR_PAGINATION_ENABLED: booleanField(
    'GET /admin/users paginates by cursor, without a total, unless the request has `page` or `per_page`.',
    false,
  ),
  AUTH_REQUEST_ID_HEADER: Optional(
    textField('Request header with the request id that a proxy assigned.', {
      'x-gotrue-names': ['REQUEST_ID_HEADER', 'GOTRUE_API_REQUEST_ID_HEADER'],
      'x-type': 'header',
    }),
  ),
  AUTH_TRUSTED_PROXIES: listField(
    'Addresses and networks of your proxies, or `none`. Headers with a client address (`X-Forwarded-For`, `Proxy-Forwarded-For`, AUTH_RATE_LIMIT_HEADER) and `traceparent` are trusted only from these. In a chain, the client is the last entry that is not one of them.',
    {
      default: ['127.0.0.0/8', '::1'],
      'x-type': 'networks',
      'x-example': '127.0.0.0/8,::1,10.0.0.0/8',
    },
  ),
  AUTH_SECURITY_PROXY_FORWARDED_FOR_ENABLED: booleanField(
    'Reads the client address from the first entry of the `Proxy-Forwarded-For` header, if a proxy of AUTH_TRUSTED_PROXIES sends it. Use it only with proxies that set this header.',
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
      'Redis or Valkey server for the rate-limit counters that replicas share. Without it, each replica counts separately.',
      { 'x-type': 'redis-url', 'x-example': 'redis://localhost:6379' },
    ),
  ),
})

export const outgoing = group('Outgoing requests', {
  AUTH_INTERNAL_HTTP_TIMEOUT: duration(
    'Timeout of requests to providers and other external servers.',
    {
      default: '10s',
      exclusiveMinimum: 0,
      'x-timer': true,
    },
  ),
  HTTPS_PROXY: Optional(
    secret(
      'Proxy for outgoing https requests. It resolves their names, so it must reject those with internal addresses.',
      {
        'x-type': 'url',
        'x-aliases': ['https_proxy'],
      },
    ),
  ),
  HTTP_PROXY: Optional(
    secret('Proxy for outgoing http requests.', { 'x-type': 'url', 'x-aliases': ['http_proxy'] }),
  ),
  NO_PROXY: Optional(
    textField(
      'Hosts, separated by commas, that are contacted without the proxy. The local machine always is.',
      {
        'x-aliases': ['no_proxy'],
      },
    ),
  ),
})

export const signup = group('Sign-up', {
  AUTH_DISABLE_SIGNUP: booleanField(
    'Closes sign-up. New users can only be invited or created by an admin.',
    false,
  ),
  AUTH_EXTERNAL_EMAIL_ENABLED: booleanField('Sign-up and sign-in with an email address.', true),
  AUTH_EXTERNAL_PHONE_ENABLED: booleanField(
    'Sign-up and sign-in with a phone number. Requires an SMS provider, test numbers or automatic confirmation.',
    false,
  ),
  AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED: booleanField(
    'Anonymous sign-in. The user can become permanent later.',
    false,
  ),
  AUTH_EXTERNAL_EMAIL_MAGIC_LINK_ENABLED: booleanField(
    'Sign-in with a link or code sent by email.',
    true,
  ),
  AUTH_EXTERNAL_EMAIL_AUTHORIZED_ADDRESSES: listField(
    'Allowed email recipients. If set, emails to other addresses are not sent (a `+label` is ignored).',
    { default: [] },
  ),
  AUTH_USER_SELF_DELETE_ENABLED: booleanField(
    'Users may delete their account with `DELETE /user`.',
    false,
  ),
  AUTH_USER_METADATA_MAX_BYTES: integerField(
    'Maximum size of user_metadata, and of app_metadata, in bytes of JSON. Without a custom access token hook, both together have at most 10240 bytes, because access tokens contain them.',
    { default: 65_536, minimum: 1024, maximum: 1_048_576 },
  ),
})

export const usernames = group('Usernames', {
  AUTH_USERNAMES_ENABLED: booleanField(
    'Users may have a username in addition to their email address or phone number, and sign in with it.',
    false,
  ),
  AUTH_USERNAMES_MIN_LENGTH: integerField('Minimum number of characters of a new username.', {
    default: 3,
    minimum: 1,
    maximum: 64,
  }),
  AUTH_USERNAMES_MAX_LENGTH: integerField('Maximum number of characters of a new username.', {
    default: 32,
    minimum: 1,
    maximum: 64,
  }),
  AUTH_USERNAMES_ALLOW_UNICODE: booleanField(
    'Allows letters and digits of every script (PRECIS, RFC 8265). If false, a new username consists of a to z, digits, dots, underscores and hyphens.',
    false,
  ),
  AUTH_USERNAMES_RESERVED: listField(
    'Usernames that no user can choose. Names that look like them are reserved too.',
    {
      default: [
        'admin',
        'administrator',
        'anonymous',
        'api',
        'auth',
        'help',
        'info',
        'moderator',
        'null',
        'owner',
        'postmaster',
        'root',
        'security',
        'staff',
        'support',
        'system',
        'undefined',
        'webmaster',
      ],
    },
  ),
  AUTH_USERNAMES_CHANGE_INTERVAL: duration(
    'Minimum time between two changes of a username by its user. 0 means no limit.',
    { default: '720h' },
  ),
  AUTH_USERNAMES_MAX_UNVERIFIED: integerField(
    'Maximum number of usernames that clients of one network choose in a day for addresses that are not verified. 0 means no limit.',
    { default: 20, minimum: 0 },
  ),
  AUTH_USERNAMES_HOLD: duration(
    'How long only the same user can take a username back after a change. 0 means that others can take it immediately.',
    { default: '2160h' },
  ),
})

export const console = group('Console', {
  AUTH_CONSOLE_ENABLED: booleanField(
    'Serves the console for operators at `/console`, the sign-in pages that it uses, and the endpoints of the admin API that it needs. On in `npm run dev`.',
    false,
  ),
  AUTH_CONSOLE_REQUIRE_MFA: booleanField(
    'Admins who sign in, with a role of their own (`npm run admin`) or of `AUTH_JWT_ADMIN_ROLES`, need a second factor for every request to the admin API. Without this variable, only those who have one must verify it.',
    false,
  ),
})

export const accountPage = group('Account page', {
  AUTH_ACCOUNT_PAGE_ENABLED: booleanField(
    'Serves `/account`, where users manage their own account, and the sign-in pages that it uses. A sign-in there without another target continues at it. On in `npm run dev`.',
    false,
  ),
})
