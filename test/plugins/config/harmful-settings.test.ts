/** Settings that are right one by one and would do harm: each is refused, or warned about, by name. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { mistakesIn, read } from './environment.ts'

const refused: Record<string, [env: Record<string, string>, said: RegExp]> = {
  'an allow list of everything': [
    { AUTH_URI_ALLOW_LIST: 'https://a.test/**,**' },
    /^AUTH_URI_ALLOW_LIST allows every site by \*\*; it must name your own hosts/,
  ],
  'an allow list of every host': [
    { AUTH_URI_ALLOW_LIST: 'https://*/auth' },
    /^AUTH_URI_ALLOW_LIST allows every site by https:\/\/\*\/auth;/,
  ],
  'a prefix that hides paths': [
    { AUTH_API_PREFIX: '/admin' },
    /^AUTH_API_PREFIX is "\/admin", and paths of this server begin with \/admin; it must be a path of its own/,
  ],
  'a word for nothing that may be missing': [
    { AUTH_TAKEOVER_ACCEPT_MISSING: 'smal' },
    /^AUTH_TAKEOVER_ACCEPT_MISSING is "smal"; it must be words of saml, oauth_server, custom_providers, web3, separated by commas$/,
  ],
  'an address as the mail host': [
    { AUTH_SMTP_HOST: 'smtp://me:secret@mail.test:587', AUTH_SMTP_ADMIN_EMAIL: 'a@b.test' },
    /^AUTH_SMTP_HOST is "smtp:\/\/\.\.\.@mail\.test:587"; it must be a host name alone/,
  ],
  'a mail host with its port': [
    { AUTH_SMTP_HOST: 'mail.test:587', AUTH_SMTP_ADMIN_EMAIL: 'a@b.test' },
    /^AUTH_SMTP_HOST is "mail\.test:587"/,
  ],
  'a % that stands for nothing in the address of the database': [
    { DATABASE_URL: 'postgres://a:100%@db.test/a' },
    /^DATABASE_URL has a value that is not right; .*%23 %25/,
  ],
  'a # in the password of the database': [
    { DATABASE_URL: 'postgres://a:pass#word@db.test/a' },
    /^DATABASE_URL has a value that is not right; .*# % @ \/ in a password written %23/,
  ],
  'a # after digits, which would be a port': [
    { DATABASE_URL: 'postgres://a:12#word@db.test/a' },
    /^DATABASE_URL has a value that is not right/,
  ],
  'an address in quotation marks': [
    { AUTH_SITE_URL: '"https://app.test"' },
    /^AUTH_SITE_URL stands in quotation marks, which are part of its value; it must be an address/,
  ],
  'the address of a database in quotation marks': [
    { DATABASE_URL: "'postgres://a:secret-word@db.test/a'" },
    /^DATABASE_URL stands in quotation marks, which are part of its value; (?!.*secret-word)/,
  ],
  'algorithms without the one that signs': [
    { AUTH_JWT_VALID_METHODS: 'HS256' },
    /^AUTH_JWT_VALID_METHODS leaves out RS256, with which tokens are signed here; it must list RS256/,
  ],
  'a webhook in clear': [
    webhook('http://hooks.test/x'),
    /^AUTH_WEBHOOK_ENDPOINTS has http:\/\/hooks\.test; .* unless AUTH_WEBHOOK_PRIVATE_ADDRESSES is true/,
  ],
  'a webhook with a password': [
    { ...webhook('https://me:secret@hooks.test/x'), AUTH_WEBHOOK_PRIVATE_ADDRESSES: 'true' },
    /^AUTH_WEBHOOK_ENDPOINTS has a user name or password for hooks\.test;/,
  ],
  'new people as admins': [
    { AUTH_JWT_ADMIN_ROLES: 'service_role,authenticated' },
    /^AUTH_JWT_ADMIN_ROLES names authenticated, the role of everybody who signs up;/,
  ],
  'new people as admins, by the role that they get': [
    { AUTH_JWT_DEFAULT_GROUP_NAME: 'service_role' },
    /^AUTH_JWT_ADMIN_ROLES names service_role, the role of everybody who signs up;/,
  ],
  'clients that are nobody as admins': [
    { AUTH_JWT_ADMIN_ROLES: 'service_role,anon' },
    /^AUTH_JWT_ADMIN_ROLES names anon, the role of the token that every client has;/,
  ],
  'metrics on the port of the API': [
    { ...metrics('prometheus'), PORT: '9100' },
    /^OTEL_EXPORTER_PROMETHEUS_PORT leads to PORT/,
  ],
  'metrics of a worker on the port of the API': [
    { ...metrics('prometheus'), PORT: '9102', AUTH_WORKERS: '3' },
    /^OTEL_EXPORTER_PROMETHEUS_PORT leads to PORT/,
  ],
}

function webhook(url: string) {
  const secrets = [`v1,whsec_${Buffer.alloc(32, 'receiver').toString('base64')}`]
  return { AUTH_WEBHOOK_ENDPOINTS: JSON.stringify([{ url, secrets }]) }
}

function metrics(exporter: string) {
  return { AUTH_METRICS_ENABLED: 'true', AUTH_METRICS_EXPORTER: exporter }
}

suite('refused', () => {
  for (const [name, [env, said]] of Object.entries(refused)) {
    test(name, () => {
      const [mistake, ...rest] = mistakesIn(env)
      assert.ok(mistake)
      assert.deepEqual(rest, [])
      assert.match(`${mistake.variable} ${mistake.problem}; ${mistake.remedy}`, said)
    })
  }
})

suite('accepted', () => {
  const accepted: Record<string, string>[] = [
    { AUTH_URI_ALLOW_LIST: 'https://*.a.test/**,myapp://**,http://localhost:*/**' },
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
    test(JSON.stringify(env), () => assert.deepEqual(mistakesIn(env), []))
  }

  test('every site, in development', () => {
    assert.ok(read({ AUTH_URI_ALLOW_LIST: '**' }, true).config)
  })
})

suite('warned about', () => {
  const pushed = metrics('opentelemetry')
  const goNowhere = (env: Record<string, string>) =>
    read(env).notices.filter((notice) => notice.startsWith('AUTH_METRICS_ENABLED'))

  test('metrics that are pushed and have no collector', () => {
    assert.match(goNowhere(pushed)[0] ?? '', /AUTH_METRICS_EXPORTER=prometheus serves them/)
    const [name, other] = ['OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_METRICS_ENDPOINT']
    for (const collector of [name, other]) {
      assert.deepEqual(goNowhere({ ...pushed, [collector]: 'http://collector:4318' }), [])
    }
    assert.deepEqual(goNowhere(metrics('prometheus')), [])
  })

  test('two names of one variable with two values', () => {
    const twice = (text: string) => read({ PORT: '8081', AUTH_API_PORT: text }).notices.join()
    assert.match(
      twice('8082'),
      /PORT counts, and AUTH_API_PORT has another value: set one of them\./,
    )
    assert.doesNotMatch(twice('8081'), /another value/)
  })

  test('quotation marks that are taken for a part of the value', () => {
    const { config, notices } = read({
      AUTH_JWT_SECRET: '"a secret of thirty-two bytes or more"',
      AUTH_SMTP_SENDER_NAME: "'Acme'",
      AUTH_JWT_AUD: 'the "team"',
    })
    assert.equal(config.AUTH_SMTP_SENDER_NAME, "'Acme'")
    assert.match(
      notices.join('\n'),
      /^Quotation marks around a value are part of it, as in AUTH_JWT_SECRET, AUTH_SMTP_SENDER_NAME: leave them out\.$/m,
    )
    assert.doesNotMatch(notices.join(), /thirty-two/)
  })

  test('sessions that end for want of use while their tokens are good', () => {
    const noticed = (env: Record<string, string>) =>
      read(env).notices.filter((notice) => notice.startsWith('AUTH_SESSIONS_INACTIVITY_TIMEOUT'))
    assert.match(
      noticed({ AUTH_SESSIONS_INACTIVITY_TIMEOUT: '15m' })[0] ?? '',
      /AUTH_SESSIONS_INACTIVITY_TIMEOUT is not above AUTH_JWT_EXP: .* 15m after each refresh/,
    )
    assert.deepEqual(noticed({ AUTH_SESSIONS_INACTIVITY_TIMEOUT: '15m', AUTH_JWT_EXP: '5m' }), [])
    assert.deepEqual(noticed({}), [])
  })

  test('roles that must have a second factor where none can be added', () => {
    const roles = { AUTH_MFA_REQUIRED_ROLES: 'editor' }
    const noTotp = { AUTH_MFA_TOTP_ENROLL_ENABLED: 'false' }
    const noticed = (env: Record<string, string>) =>
      read(env).notices.filter((notice) => notice.startsWith('AUTH_MFA_REQUIRED_ROLES'))
    assert.match(noticed({ ...roles, ...noTotp })[0] ?? '', /no kind of second factor can be added/)
    assert.deepEqual(noticed(roles), [])
    const keys = { AUTH_MFA_WEB_AUTHN_ENROLL_ENABLED: 'true' }
    assert.equal(noticed({ ...roles, ...noTotp, ...keys }).length, 1)
    const proven = { ...keys, AUTH_MFA_WEB_AUTHN_VERIFY_ENABLED: 'true' }
    assert.deepEqual(noticed({ ...roles, ...noTotp, ...proven }), [])
    assert.deepEqual(noticed(noTotp), [])
  })

  test('algorithms of a secret that GoTrue signs with are those of tokens here as well', () => {
    const { config } = read({
      AUTH_JWT_SECRET: '',
      GOTRUE_JWT_SECRET: 'thirty-two bytes are the least here',
      GOTRUE_JWT_VALID_METHODS: 'HS256',
    })
    assert.equal(config.AUTH_JWT_ALGORITHM, 'HS256')
  })

  test('every site, under the name that GoTrue has for the list', () => {
    const { notices } = read({ GOTRUE_URI_ALLOW_LIST: '**' })
    assert.match(notices.join(), /GOTRUE_URI_ALLOW_LIST allows every site by \*\*/)
  })
})
