/** Individually valid settings that would cause harm: each is rejected or warned about by name. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { issuesIn, read } from './environment.ts'

const rejected: Record<string, [env: Record<string, string>, message: RegExp]> = {
  'an allow list that matches everything': [
    { AUTH_URI_ALLOW_LIST: 'https://a.test/**,**' },
    /^AUTH_URI_ALLOW_LIST allows every site with \*\*; it must list your own hosts/,
  ],
  'an allow list that matches each host': [
    { AUTH_URI_ALLOW_LIST: 'https://*/auth' },
    /^AUTH_URI_ALLOW_LIST allows every site with https:\/\/\*\/auth;/,
  ],
  'an allowed host without scheme': [
    { AUTH_URI_ALLOW_LIST: 'https://a.test/**,*.b.test' },
    /^AUTH_URI_ALLOW_LIST has "\*\.b\.test", which matches no URL; it must list URLs .*separated by commas$/,
  ],
  'allowed URLs separated by a space': [
    { AUTH_URI_ALLOW_LIST: 'https://a.test https://b.test' },
    /^AUTH_URI_ALLOW_LIST has "https:\/\/a\.test https:\/\/b\.test", which matches no URL;/,
  ],
  'allowed URLs as JSON': [
    { AUTH_URI_ALLOW_LIST: '["https://a.test"]' },
    /^AUTH_URI_ALLOW_LIST has "\["https:\/\/a\.test"\]", which matches no URL;/,
  ],
  'a misspelt scheme of the site': [
    { AUTH_SITE_URL: 'htps://app.test' },
    /^AUTH_SITE_URL is "htps:\/\/app\.test"; it must be a URL such as https:\/\/app\.example\.com$/,
  ],
  'a public address with a query': [
    { AUTH_API_EXTERNAL_URL: 'https://auth.test?a=1' },
    /^AUTH_API_EXTERNAL_URL has a query, a fragment or a login; it must end with its host, port or path/,
  ],
  'a public address with a fragment': [
    { AUTH_API_EXTERNAL_URL: 'https://auth.test/#a' },
    /^AUTH_API_EXTERNAL_URL has a query, a fragment or a login;/,
  ],
  'a public address with a login': [
    { AUTH_API_EXTERNAL_URL: 'https://me:secret@auth.test' },
    /^AUTH_API_EXTERNAL_URL has a query, a fragment or a login; (?!.*secret)/,
  ],
  'a URL as path of the consent page': [
    {
      AUTH_OAUTH_SERVER_ENABLED: 'true',
      AUTH_OAUTH_SERVER_AUTHORIZATION_PATH: 'https://app.test/consent',
    },
    /^AUTH_OAUTH_SERVER_AUTHORIZATION_PATH is "https:\/\/app\.test\/consent"; it must be a path under AUTH_SITE_URL/,
  ],
  'a schema name with a hyphen': [
    { AUTH_DB_NAMESPACE: 'my-auth' },
    /^AUTH_DB_NAMESPACE is "my-auth"; it must be a schema name of lower-case letters, digits and underscores/,
  ],
  'a prefix that hides paths': [
    { AUTH_API_PREFIX: '/admin' },
    /^AUTH_API_PREFIX is "\/admin", but paths of this server begin with \/admin; it must be another path/,
  ],
  'an unknown accepted feature': [
    { AUTH_TAKEOVER_ACCEPT_MISSING: 'smal' },
    /^AUTH_TAKEOVER_ACCEPT_MISSING is "smal"; it must be values of saml, oauth_server, custom_providers, web3, separated by commas$/,
  ],
  'a URL as mail host': [
    { AUTH_SMTP_HOST: 'smtp://me:secret@mail.test:587', AUTH_SMTP_ADMIN_EMAIL: 'a@b.test' },
    /^AUTH_SMTP_HOST is "smtp:\/\/\.\.\.@mail\.test:587"; it must be a host name only/,
  ],
  'a mail host with its port': [
    { AUTH_SMTP_HOST: 'mail.test:587', AUTH_SMTP_ADMIN_EMAIL: 'a@b.test' },
    /^AUTH_SMTP_HOST is "mail\.test:587"/,
  ],
  'an invalid percent-encoding in DATABASE_URL': [
    { DATABASE_URL: 'postgres://a:100%@db.test/a' },
    /^DATABASE_URL has an invalid value; .*%23 %25/,
  ],
  'a # in the password of DATABASE_URL': [
    { DATABASE_URL: 'postgres://a:pass#word@db.test/a' },
    /^DATABASE_URL has an invalid value; .*# % @ \/ of a password written as %23/,
  ],
  'a # after digits, which would be a port': [
    { DATABASE_URL: 'postgres://a:12#word@db.test/a' },
    /^DATABASE_URL has an invalid value/,
  ],
  'a quoted URL': [
    { AUTH_SITE_URL: '"https://app.test"' },
    /^AUTH_SITE_URL is in quotation marks, which are part of the value; it must be a URL/,
  ],
  'a quoted DATABASE_URL': [
    { DATABASE_URL: "'postgres://a:secret-word@db.test/a'" },
    /^DATABASE_URL is in quotation marks, which are part of the value; (?!.*secret-word)/,
  ],
  'accepted algorithms without the signing one': [
    { AUTH_JWT_VALID_METHODS: 'HS256' },
    /^AUTH_JWT_VALID_METHODS does not include RS256, which this server signs with; it must include RS256/,
  ],
  'a webhook without TLS': [
    webhook('http://hooks.test/x'),
    /^AUTH_WEBHOOK_ENDPOINTS has http:\/\/hooks\.test; .* unless AUTH_WEBHOOK_PRIVATE_ADDRESSES is true/,
  ],
  'a webhook with a password': [
    { ...webhook('https://me:secret@hooks.test/x'), AUTH_WEBHOOK_PRIVATE_ADDRESSES: 'true' },
    /^AUTH_WEBHOOK_ENDPOINTS has credentials in the URL of hooks\.test;/,
  ],
  'new users as admins': [
    { AUTH_JWT_ADMIN_ROLES: 'service_role,authenticated' },
    /^AUTH_JWT_ADMIN_ROLES names authenticated, the role of every new user;/,
  ],
  'new users as admins by their default role': [
    { AUTH_JWT_DEFAULT_GROUP_NAME: 'service_role' },
    /^AUTH_JWT_ADMIN_ROLES names service_role, the role of every new user;/,
  ],
  'anonymous clients as admins': [
    { AUTH_JWT_ADMIN_ROLES: 'service_role,anon' },
    /^AUTH_JWT_ADMIN_ROLES names anon, the role of the public token;/,
  ],
  'a SAML provider in the linking domain of passwords': [
    { AUTH_EXPERIMENTAL_PROVIDER_LINKING_DOMAINS: 'sso:7a1c=default,github=social' },
    /^AUTH_EXPERIMENTAL_PROVIDER_LINKING_DOMAINS puts sso:7a1c into the linking domain default;/,
  ],
  'a SAML provider in the linking domain of another provider': [
    { AUTH_EXPERIMENTAL_PROVIDER_LINKING_DOMAINS: 'sso:7a1c=social,github=social' },
    /^AUTH_EXPERIMENTAL_PROVIDER_LINKING_DOMAINS puts sso:7a1c into the linking domain social;/,
  ],
  'metrics on the port of the API': [
    { ...metrics('prometheus'), PORT: '9100' },
    /^OTEL_EXPORTER_PROMETHEUS_PORT includes PORT/,
  ],
  'metrics of a worker on the port of the API': [
    { ...metrics('prometheus'), PORT: '9102', AUTH_WORKERS: '3' },
    /^OTEL_EXPORTER_PROMETHEUS_PORT includes PORT/,
  ],
}

function webhook(url: string) {
  const secrets = [`v1,whsec_${Buffer.alloc(32, 'receiver').toString('base64')}`]
  return { AUTH_WEBHOOK_ENDPOINTS: JSON.stringify([{ url, secrets }]) }
}

function metrics(exporter: string) {
  return { AUTH_METRICS_ENABLED: 'true', AUTH_METRICS_EXPORTER: exporter }
}

const passkeys = {
  AUTH_PASSKEY_ENABLED: 'true',
  AUTH_WEBAUTHN_RP_DISPLAY_NAME: 'The app',
  AUTH_WEBAUTHN_RP_ORIGINS: 'https://app.shop.test,tauri://localhost',
}

suite('harmful settings', () => {
  for (const [name, [env, output]] of Object.entries(rejected)) {
    test(`rejects ${name}`, () => {
      const [invalid, ...rest] = issuesIn(env)
      assert.ok(invalid)
      assert.deepEqual(rest, [])
      assert.match(`${invalid.variable} ${invalid.problem}; ${invalid.hint}`, output)
    })
  }
})

suite('valid settings similar to harmful ones', () => {
  const accepted: Record<string, string>[] = [
    { AUTH_URI_ALLOW_LIST: 'https://*.a.test/**,myapp://**,http://localhost:*/**' },
    { AUTH_URI_ALLOW_LIST: 'com.example.app:/callback' },
    { AUTH_SITE_URL: 'myapp://home' },
    { AUTH_API_EXTERNAL_URL: 'https://auth.test:8443/auth/v1/' },
    { AUTH_SMTP_HOST: '[::1]', AUTH_SMTP_ADMIN_EMAIL: 'a@b.test' },
    { DATABASE_URL: 'postgres://a:p%23%25%40@db.test/a' },
    { ...metrics('prometheus'), PORT: '9101' },
    { ...metrics('opentelemetry'), PORT: '9100' },
    { AUTH_JWT_VALID_METHODS: 'HS256,RS256' },
    { AUTH_JWT_VALID_METHODS: 'HS256', AUTH_JWT_ALGORITHM: 'HS256' },
    { ...webhook('http://10.0.0.7/x'), AUTH_WEBHOOK_PRIVATE_ADDRESSES: 'true' },
    { ...webhook('https://hooks.test/x') },
    { AUTH_JWT_EXP: '7d', AUTH_RATE_LIMIT_EMAIL_SENT: '30/1d' },
  ]
  for (const env of accepted) {
    test(`accepts ${JSON.stringify(env)}`, () => assert.deepEqual(issuesIn(env), []))
  }

  test('accepts an allow list of each site in development', () => {
    assert.ok(read({ AUTH_URI_ALLOW_LIST: '**' }, true).config)
  })
})

suite('warnings', () => {
  const pushed = metrics('opentelemetry')
  const goNowhere = (env: Record<string, string>) =>
    read(env).notices.filter((notice) => notice.startsWith('AUTH_METRICS_ENABLED'))

  test('warns about pushed metrics without a collector', () => {
    assert.match(goNowhere(pushed)[0] ?? '', /AUTH_METRICS_EXPORTER=prometheus to serve them/)
    const [name, other] = ['OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_METRICS_ENDPOINT']
    for (const collector of [name, other]) {
      assert.deepEqual(goNowhere({ ...pushed, [collector]: 'http://collector:4318' }), [])
    }
    assert.deepEqual(goNowhere(metrics('prometheus')), [])
  })

  test('warns about two values for one variable', () => {
    const twice = (text: string) => read({ PORT: '8081', AUTH_API_PORT: text }).notices.join()
    assert.match(
      twice('8082'),
      /PORT is used, but AUTH_API_PORT has another value: set only one of them\./,
    )
    assert.doesNotMatch(twice('8081'), /another value/)
  })

  test('warns about quotes that are part of a value', () => {
    const { config, notices } = read({
      AUTH_JWT_SECRET: '"a secret of thirty-two bytes or more"',
      AUTH_SMTP_SENDER_NAME: "'Acme'",
      AUTH_JWT_AUD: 'the "team"',
    })
    assert.equal(config.AUTH_SMTP_SENDER_NAME, "'Acme'")
    assert.match(
      notices.join('\n'),
      /^Quotation marks are part of the value of AUTH_JWT_SECRET, AUTH_SMTP_SENDER_NAME: remove them\.$/m,
    )
    assert.doesNotMatch(notices.join(), /thirty-two/)
  })

  test('warns about an inactivity timeout below the token lifetime', () => {
    const noticed = (env: Record<string, string>) =>
      read(env).notices.filter((notice) => notice.startsWith('AUTH_SESSIONS_INACTIVITY_TIMEOUT'))
    assert.match(
      noticed({ AUTH_SESSIONS_INACTIVITY_TIMEOUT: '15m' })[0] ?? '',
      /AUTH_SESSIONS_INACTIVITY_TIMEOUT is not above AUTH_JWT_EXP: .* 15m after each refresh/,
    )
    assert.deepEqual(noticed({ AUTH_SESSIONS_INACTIVITY_TIMEOUT: '15m', AUTH_JWT_EXP: '5m' }), [])
    assert.deepEqual(noticed({}), [])
  })

  test('warns about access tokens that are valid for longer than a week', () => {
    const noticed = (AUTH_JWT_EXP: string) =>
      read({ AUTH_JWT_EXP }).notices.filter((notice) => notice.startsWith('AUTH_JWT_EXP'))
    assert.match(
      noticed('3600000')[0] ?? '',
      /^AUTH_JWT_EXP is 1000h: a number without a unit means seconds/,
    )
    assert.deepEqual(noticed('7d'), [])
  })

  test('warns about passkeys for a domain that is not the one of the origins', () => {
    const noticed = (AUTH_WEBAUTHN_RP_ID: string) =>
      read({ ...passkeys, AUTH_WEBAUTHN_RP_ID }).notices.filter((notice) =>
        notice.startsWith('AUTH_WEBAUTHN_RP_ORIGINS'),
      )
    assert.match(
      noticed('other.test')[0] ?? '',
      /^AUTH_WEBAUTHN_RP_ORIGINS has https:\/\/app\.shop\.test, which is neither AUTH_WEBAUTHN_RP_ID \(other\.test\) nor a subdomain of it/,
    )
    assert.deepEqual(noticed('shop.test'), [])
    assert.deepEqual(noticed('app.shop.test'), [])
    assert.equal(noticed('hop.test').length, 1)
  })

  test('warns about second factors that can be enrolled and not verified', () => {
    const noticed = (env: Record<string, string>) =>
      read(env).notices.filter((notice) => notice.startsWith('AUTH_MFA_'))
    assert.match(
      noticed({ AUTH_MFA_TOTP_VERIFY_ENABLED: 'false' })[0] ?? '',
      /^AUTH_MFA_TOTP_ENROLL_ENABLED is true and AUTH_MFA_TOTP_VERIFY_ENABLED is not: /,
    )
    assert.deepEqual(noticed({ AUTH_MFA_PHONE_VERIFY_ENABLED: 'true' }), [])
    assert.deepEqual(noticed({}), [])
  })

  test('warns about registration of clients without the OAuth server', () => {
    const noticed = (env: Record<string, string>) =>
      read(env).notices.filter((notice) => notice.startsWith('AUTH_OAUTH_SERVER_'))
    const registration = { AUTH_OAUTH_SERVER_ALLOW_DYNAMIC_REGISTRATION: 'true' }
    assert.match(
      noticed(registration)[0] ?? '',
      /^AUTH_OAUTH_SERVER_ALLOW_DYNAMIC_REGISTRATION has no effect while AUTH_OAUTH_SERVER_ENABLED is false/,
    )
    assert.deepEqual(noticed({ ...registration, AUTH_OAUTH_SERVER_ENABLED: 'true' }), [])
  })

  test('warns about roles that require a factor when none can be enrolled', () => {
    const roles = { AUTH_MFA_REQUIRED_ROLES: 'editor' }
    const noTotp = { AUTH_MFA_TOTP_ENROLL_ENABLED: 'false' }
    const noticed = (env: Record<string, string>) =>
      read(env).notices.filter((notice) => notice.startsWith('AUTH_MFA_REQUIRED_ROLES'))
    assert.match(
      noticed({ ...roles, ...noTotp })[0] ?? '',
      /no type of second factor can be enrolled/,
    )
    assert.deepEqual(noticed(roles), [])
    const keys = { AUTH_MFA_WEB_AUTHN_ENROLL_ENABLED: 'true' }
    assert.equal(noticed({ ...roles, ...noTotp, ...keys }).length, 1)
    const verified = { ...keys, AUTH_MFA_WEB_AUTHN_VERIFY_ENABLED: 'true' }
    assert.deepEqual(noticed({ ...roles, ...noTotp, ...verified }), [])
    assert.deepEqual(noticed(noTotp), [])
  })

  test('takes the algorithms of GoTrue’s secret for tokens', () => {
    const { config } = read({
      AUTH_JWT_SECRET: '',
      GOTRUE_JWT_SECRET: 'thirty-two bytes are the least here',
      GOTRUE_JWT_VALID_METHODS: 'HS256',
    })
    assert.equal(config.AUTH_JWT_ALGORITHM, 'HS256')
  })

  test('warns about an allow list of each site under GoTrue’s name', () => {
    const { notices } = read({ GOTRUE_URI_ALLOW_LIST: '**' })
    assert.match(notices.join(), /GOTRUE_URI_ALLOW_LIST allows every site with \*\*/)
  })
})
