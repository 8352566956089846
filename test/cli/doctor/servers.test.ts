/** The doctor’s checks of other servers. */
import assert from 'node:assert/strict'
import { createServer } from 'node:https'
import { suite, test } from 'node:test'

import { checkExternalUrl } from '../../../cli/doctor/addresses.ts'
import { checkMail, checkMailDomain } from '../../../cli/doctor/mail.ts'
import { checkProviders, checkRedis } from '../../../cli/doctor/services.ts'
import { certificate } from '../../mail/certificate.ts'
import { startSmtp } from '../../mail/smtp.ts'
import { startMailServer } from '../../support/messages/mail-server.ts'
import { freePort } from '../../support/processes/free-port.ts'
import { serve } from '../../support/processes/listening.ts'
import { client } from '../../support/providers/fake-provider.ts'
import { startOpenidProvider } from '../../support/providers/openid-provider.ts'
import { createDoctorContext, runCheck } from './doctor-context.ts'

const sender = 'auth@app.example'

function smtp(port: number, more: Record<string, string> = {}) {
  const server = { AUTH_SMTP_HOST: '127.0.0.1', AUTH_SMTP_PORT: String(port) }
  return { ...server, AUTH_SMTP_ADMIN_EMAIL: sender, ...more }
}

suite('doctor: mail server', () => {
  test('checks the sender or the given recipient without sending an email', async (t) => {
    const server = await startMailServer(t)
    const requested = createDoctorContext(t, smtp(server.port))
    assert.deepEqual(await runCheck(checkMail, requested), [
      `pass 127.0.0.1:${server.port} accepts email from ${sender} to ${sender}.`,
    ])
    const named = createDoctorContext(t, smtp(server.port), { recipient: 'ann@ex.test' })
    assert.match((await runCheck(checkMail, named)).join(), /^pass .* to ann@ex\.test\.$/)
    assert.deepEqual(server.messages, [])
  })

  test('reports a rejected recipient with the server’s response', async (t) => {
    const server = await startMailServer(t)
    server.behave('permanent')
    const [line = ''] = await runCheck(checkMail, createDoctorContext(t, smtp(server.port)))
    assert.match(
      line,
      /^fail .*does not accept email: 550.*; check whether you may send from AUTH_SMTP_ADMIN_EMAIL/,
    )
  })

  test('reports a rejected password without printing it', async (t) => {
    const { port } = await startSmtp(t, {
      authOptional: false,
      onAuth: (_auth, _session, done) => done(new Error('no')),
    })
    const variables = smtp(port, { AUTH_SMTP_USER: 'ann', AUTH_SMTP_PASS: 'secret-word' })
    const [line = ''] = await runCheck(checkMail, createDoctorContext(t, variables))
    assert.match(line, /^fail .*535.*; check AUTH_SMTP_USER and AUTH_SMTP_PASS/)
    assert.doesNotMatch(line, /secret-word/)
  })

  test('reports an untrusted certificate with the variable that trusts it', async (t) => {
    const { port } = await startSmtp(t, { ...certificate(t), disabledCommands: [] })
    const variables = smtp(port, { AUTH_SMTP_TLS: 'starttls' })
    const [line = ''] = await runCheck(checkMail, createDoctorContext(t, variables))
    assert.match(
      line,
      /^fail .*SELF_SIGNED_CERT; check that the certificate .*NODE_EXTRA_CA_CERTS\.$/,
    )
  })

  test('signs in with the correct password', async (t) => {
    const { port, emails } = await startSmtp(t, {
      authOptional: false,
      onAuth: ({ username, password }, _session, done) =>
        username === 'ann' && password === 'right' ? done(null, { user: 'ann' }) : done(null, {}),
    })
    const variables = smtp(port, { AUTH_SMTP_USER: 'ann', AUTH_SMTP_PASS: 'right' })
    assert.match((await runCheck(checkMail, createDoctorContext(t, variables))).join(), /^pass/)
    assert.deepEqual(emails, [])
  })

  test('reports an unreachable and a missing mail server', async (t) => {
    const port = await freePort()
    const [line = ''] = await runCheck(checkMail, createDoctorContext(t, smtp(port)))
    assert.match(line, /^fail .*ECONNREFUSED.*; check AUTH_SMTP_HOST, AUTH_SMTP_PORT/)
    assert.match(
      (await runCheck(checkMail, createDoctorContext(t))).join(),
      /^fail No mail server is configured/,
    )
    const auto = createDoctorContext(t, { AUTH_MAILER_AUTOCONFIRM: 'true' })
    assert.match((await runCheck(checkMail, auto)).join(), /^warn No mail server is configured/)
  })
})

suite('doctor: sender domain', () => {
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
  for (const [domain, levels, output] of cases) {
    test(domain, async (t) => {
      const { config } = createDoctorContext(t, smtp(25))
      const ours = { ...config, AUTH_SMTP_ADMIN_EMAIL: `auth@${domain}` }
      const findings = await checkMailDomain({ config: ours }, lookUp)
      assert.deepEqual(
        findings.map(({ level }) => level),
        levels,
      )
      assert.match(findings.map(({ sentence }) => sentence).join('\n'), output)
    })
  }
})

suite('doctor: providers', () => {
  function acme(issuer: string, id = client.id) {
    return {
      AUTH_EXTERNAL_OIDC_ACME_ISSUER: issuer,
      AUTH_EXTERNAL_OIDC_ACME_CLIENT_ID: id,
      AUTH_EXTERNAL_OIDC_ACME_SECRET: client.secret,
      AUTH_EXTERNAL_OIDC_ACME_REDIRECT_URI: client.redirectUri,
    }
  }

  test('reports a provider that accepts the client, one that does not, and an unreachable one', async (t) => {
    const { issuer } = await startOpenidProvider(t, { claimsInIdToken: true })
    const known = await runCheck(checkProviders, createDoctorContext(t, acme(issuer)))
    assert.deepEqual(known, ['pass acme is available and shows a sign-in page.'])
    const attacker = await runCheck(checkProviders, createDoctorContext(t, acme(issuer, 'another')))
    assert.match(attacker.join(), /^warn .* acme returns status 400: .*client id and redirect URI/)
    const gone = acme(`http://127.0.0.1:${await freePort()}`)
    assert.match(
      (await runCheck(checkProviders, createDoctorContext(t, gone))).join(),
      /^fail acme cannot be used/,
    )
    assert.deepEqual(await runCheck(checkProviders, createDoctorContext(t)), [])
  })
})

suite('doctor: external URL', () => {
  test('reports an unreachable external URL', async (t) => {
    const AUTH_API_EXTERNAL_URL = `http://127.0.0.1:${await freePort()}`
    const [line = ''] = await runCheck(
      checkExternalUrl,
      createDoctorContext(t, { AUTH_API_EXTERNAL_URL }),
    )
    assert.match(line, /^fail http:.*jwks\.json cannot be reached from here \(ECONNREFUSED\)/)
  })

  test('reports an untrusted certificate that expires soon', async (t) => {
    const server = createServer(certificate(t), (_request, response) => void response.end('{}'))
    const AUTH_API_EXTERNAL_URL = `https://127.0.0.1:${await serve(t, server)}`
    const lines = await runCheck(
      checkExternalUrl,
      createDoctorContext(t, { AUTH_API_EXTERNAL_URL }),
    )
    assert.match(lines[0] ?? '', /^fail .*\(DEPTH_ZERO_SELF_SIGNED_CERT\)/)
    assert.match(lines[1] ?? '', /^warn The certificate of 127\.0\.0\.1 is valid for [12] days/)
  })

  test('reports another server at the external URL', async (t) => {
    const { issuer } = await startOpenidProvider(t, { claimsInIdToken: true })
    const context = createDoctorContext(t, { AUTH_API_EXTERNAL_URL: issuer })
    const [line = ''] = await runCheck(checkExternalUrl, context)
    assert.match(line, /^fail .* returns status 404 and no key set/)
  })
})

suite('doctor: Redis', () => {
  test('reports an unreachable server without the password', async (t) => {
    const url = `redis://:secret-word@127.0.0.1:${await freePort()}`
    const [line = ''] = await runCheck(checkRedis, createDoctorContext(t, { AUTH_REDIS_URL: url }))
    assert.match(line, /^fail Redis at 127\.0\.0\.1:\d+ does not respond \(ECONNREFUSED\)/)
    assert.doesNotMatch(line, /secret-word/)
    assert.deepEqual(await runCheck(checkRedis, createDoctorContext(t)), [])
    const workers = await runCheck(checkRedis, createDoctorContext(t, { AUTH_WORKERS: '4' }))
    assert.match(workers.join(), /^warn Each of the 4 workers/)
  })
})
