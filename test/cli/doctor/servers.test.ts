/** What the doctor says of the servers around this one. */
import assert from 'node:assert/strict'
import { createServer } from 'node:https'
import { suite, test } from 'node:test'

import { mail } from '../../../cli/doctor/mail.ts'
import { mailDomain } from '../../../cli/doctor/mail-domain.ts'
import { outside } from '../../../cli/doctor/outside.ts'
import { providers } from '../../../cli/doctor/providers.ts'
import { redis } from '../../../cli/doctor/redis.ts'
import { certificate } from '../../mail/certificate.ts'
import { startSmtp } from '../../mail/smtp.ts'
import { freePort } from '../../support/free-port.ts'
import { serve } from '../../support/listening.ts'
import { startMailServer } from '../../support/mail-server.ts'
import { client } from '../../support/providers/fake-provider.ts'
import { startOpenidProvider } from '../../support/providers/openid-provider.ts'
import { surroundingsOf, told } from './surroundings.ts'

const sender = 'auth@app.example'

function smtp(port: number, more: Record<string, string> = {}) {
  const server = { AUTH_SMTP_HOST: '127.0.0.1', AUTH_SMTP_PORT: String(port) }
  return { ...server, AUTH_SMTP_ADMIN_EMAIL: sender, ...more }
}

suite('the doctor on the mail server', () => {
  test('asks it for the sender, or for who is named, and sends nothing', async (t) => {
    const server = await startMailServer(t)
    const asked = surroundingsOf(t, smtp(server.port))
    assert.deepEqual(await told(mail, asked), [
      `pass 127.0.0.1:${server.port} takes mail from ${sender} for ${sender}.`,
    ])
    const named = surroundingsOf(t, smtp(server.port), { recipient: 'ann@ex.test' })
    assert.match((await told(mail, named)).join(), /^pass .* for ann@ex\.test\.$/)
    assert.deepEqual(server.messages, [])
  })

  test('tells in its words that it refuses the recipient', async (t) => {
    const server = await startMailServer(t)
    server.behave('permanent')
    const [line = ''] = await told(mail, surroundingsOf(t, smtp(server.port)))
    assert.match(
      line,
      /^fail .*does not take our mail: 550.*; look whether you may send from AUTH_SMTP_ADMIN_EMAIL/,
    )
  })

  test('tells that it refuses the password, without the password', async (t) => {
    const { port } = await startSmtp(t, {
      authOptional: false,
      onAuth: (_auth, _session, done) => done(new Error('no')),
    })
    const variables = smtp(port, { AUTH_SMTP_USER: 'ann', AUTH_SMTP_PASS: 'secret-word' })
    const [line = ''] = await told(mail, surroundingsOf(t, variables))
    assert.match(line, /^fail .*535.*; look at AUTH_SMTP_USER and AUTH_SMTP_PASS/)
    assert.doesNotMatch(line, /secret-word/)
  })

  test('signs in with the right one', async (t) => {
    const { port, mails } = await startSmtp(t, {
      authOptional: false,
      onAuth: ({ username, password }, _session, done) =>
        username === 'ann' && password === 'right' ? done(null, { user: 'ann' }) : done(null, {}),
    })
    const variables = smtp(port, { AUTH_SMTP_USER: 'ann', AUTH_SMTP_PASS: 'right' })
    assert.match((await told(mail, surroundingsOf(t, variables))).join(), /^pass/)
    assert.deepEqual(mails, [])
  })

  test('nobody listens, or no server is set', async (t) => {
    const port = await freePort()
    const [line = ''] = await told(mail, surroundingsOf(t, smtp(port)))
    assert.match(line, /^fail .*ECONNREFUSED.*; look at AUTH_SMTP_HOST, AUTH_SMTP_PORT/)
    assert.match((await told(mail, surroundingsOf(t))).join(), /^fail No mail server is set/)
    const auto = surroundingsOf(t, { AUTH_MAILER_AUTOCONFIRM: 'true' })
    assert.match((await told(mail, auto)).join(), /^warn No mail server is set/)
  })
})

suite('the doctor on the domain of the sender', () => {
  const records: Record<string, string[][]> = {
    'app.example': [['something=else'], ['v=spf1 include:', 'mail.example -all']],
    '_dmarc.app.example': [['v=DMARC1; p=reject']],
    'bare.example': [['something=else']],
  }

  async function lookUp(name: string) {
    if (name.endsWith('down.example')) throw Object.assign(new Error(), { code: 'ESERVFAIL' })
    return records[name] ?? Promise.reject(Object.assign(new Error(), { code: 'ENODATA' }))
  }

  const cases: [domain: string, levels: string[], said: RegExp][] = [
    ['app.example', ['pass', 'pass', 'warn'], /_dmarc\.app\.example has DMARC.*DKIM/s],
    ['bare.example', ['warn', 'warn', 'warn'], /bare\.example has no SPF: add a TXT record/],
    ['down.example', ['warn', 'warn', 'warn'], /could not be looked up \(ESERVFAIL\)/],
    ['localhost', [], /^$/],
    ['[127.0.0.1]', [], /^$/],
  ]
  for (const [domain, levels, said] of cases) {
    test(domain, async (t) => {
      const { config } = surroundingsOf(t, smtp(25))
      const ours = { ...config, AUTH_SMTP_ADMIN_EMAIL: `auth@${domain}` }
      const findings = await mailDomain({ config: ours }, lookUp)
      assert.deepEqual(
        findings.map(({ level }) => level),
        levels,
      )
      assert.match(findings.map(({ sentence }) => sentence).join('\n'), said)
    })
  }
})

suite('the doctor on providers', () => {
  function acme(issuer: string, id = client.id) {
    return {
      AUTH_EXTERNAL_OIDC_ACME_ISSUER: issuer,
      AUTH_EXTERNAL_OIDC_ACME_CLIENT_ID: id,
      AUTH_EXTERNAL_OIDC_ACME_SECRET: client.secret,
      AUTH_EXTERNAL_OIDC_ACME_REDIRECT_URI: client.redirectUri,
    }
  }

  test('one that knows us, one that does not, one that is not there', async (t) => {
    const { issuer } = await startOpenidProvider(t, { claimsInIdToken: true })
    const known = await told(providers, surroundingsOf(t, acme(issuer)))
    assert.deepEqual(known, ['pass acme answers, and takes people in.'])
    const stranger = await told(providers, surroundingsOf(t, acme(issuer, 'somebody')))
    assert.match(stranger.join(), /^warn acme answers 400 .*client id and redirect URI/)
    const gone = acme(`http://127.0.0.1:${await freePort()}`)
    assert.match(
      (await told(providers, surroundingsOf(t, gone))).join(),
      /^fail acme cannot be used/,
    )
    assert.deepEqual(await told(providers, surroundingsOf(t)), [])
  })
})

suite('the doctor from outside', () => {
  test('nobody listens at the address of this server', async (t) => {
    const AUTH_API_EXTERNAL_URL = `http://127.0.0.1:${await freePort()}`
    const [line = ''] = await told(outside, surroundingsOf(t, { AUTH_API_EXTERNAL_URL }))
    assert.match(line, /^fail http:.*jwks\.json cannot be reached from here \(ECONNREFUSED\)/)
  })

  test('a certificate that is not trusted, and ends soon', async (t) => {
    const server = createServer(certificate(t), (_request, response) => void response.end('{}'))
    const AUTH_API_EXTERNAL_URL = `https://127.0.0.1:${await serve(t, server)}`
    const lines = await told(outside, surroundingsOf(t, { AUTH_API_EXTERNAL_URL }))
    assert.match(lines[0] ?? '', /^fail .*\(DEPTH_ZERO_SELF_SIGNED_CERT\)/)
    assert.match(lines[1] ?? '', /^warn The certificate of 127\.0\.0\.1 is good for [12] days/)
  })

  test('something else answers there', async (t) => {
    const { issuer } = await startOpenidProvider(t, { claimsInIdToken: true })
    const surroundings = surroundingsOf(t, { AUTH_API_EXTERNAL_URL: issuer })
    const [line = ''] = await told(outside, surroundings)
    assert.match(line, /^fail .* answers 404 and no key set/)
  })
})

suite('the doctor on Redis', () => {
  test('nobody listens, and the password is not told', async (t) => {
    const url = `redis://:secret-word@127.0.0.1:${await freePort()}`
    const [line = ''] = await told(redis, surroundingsOf(t, { AUTH_REDIS_URL: url }))
    assert.match(line, /^fail Redis at 127\.0\.0\.1:\d+ does not answer \(ECONNREFUSED\)/)
    assert.doesNotMatch(line, /secret-word/)
    assert.deepEqual(await told(redis, surroundingsOf(t)), [])
    const workers = await told(redis, surroundingsOf(t, { AUTH_WORKERS: '4' }))
    assert.match(workers.join(), /^warn 4 workers/)
  })
})
