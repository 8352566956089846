/** Traces and metrics of many requests with secrets, most of which fail: none is exported, in any form. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import { before, suite, test } from 'node:test'

import { totpCode } from '../../support/factors/factors.ts'
import { emailedPath } from '../../support/messages/mail-journeys.ts'
import { codeIn, linkIn } from '../../support/messages/mail-links.ts'
import { startMailServer } from '../../support/messages/mail-server.ts'
import { startSmsServer } from '../../support/messages/sms-server.ts'
import { endingOfSuite } from '../../support/processes/ending.ts'
import { freePort } from '../../support/processes/free-port.ts'
import { serve } from '../../support/processes/listening.ts'
import { needed, serviceRole, startServerProcess } from '../../support/processes/server-process.ts'
import { until } from '../../support/processes/until.ts'
import { startCollector } from '../../support/runner/collector.ts'

const email = 'unmistakable.user@example.com'
const phone = '15550107788'
const password = 'the-first-secret-of-all'
const verifier = 'a-verifier-that-only-the-client-knows-0123456789'
const challenge = createHash('sha256').update(verifier).digest('base64url')
const hookSecret = Buffer.from('a-hook-secret-of-thirty-two-bytes').toString('base64')

/** Values of requests and of the configuration. */
const sent = {
  email,
  phone,
  password,
  verifier,
  challenge,
  hookSecret,
  wrongPassword: 'the-wrong-secret-of-all',
  newPassword: 'the-second-secret-of-all',
  queryToken: 'secret-of-a-query-string',
  pathToken: 'secret-of-an-unknown-path',
  hookUrlToken: 'secret-in-the-url-of-a-hook',
  providerSecret: 'secret-of-the-provider-client',
  providerCode: 'code-of-the-provider-response',
  scimToken: 'an-invented-scim-token',
  grantType: 'an-invented-grant-type',
  baggage: 'put-into-baggage-by-a-client',
}

/** Spans name the origin of an outgoing request, metrics do not. */
const documentHost = 'chosen-by-an-unknown-client.invalid'

/** Fields of responses. */
const secretFields =
  /token|secret|(?<!error_)code|qr|uri|link|password|verifier|challenge$|authorization_id/

suite('traces and metrics', () => {
  const ending = endingOfSuite()
  const secrets = new Map<string, string>(Object.entries(sent))
  const outgoing: NodeJS.Dict<string | string[]>[] = []
  let collector: Awaited<ReturnType<typeof startCollector>>
  let exported: string

  before(async () => {
    collector = await startCollector(ending)
    const upstream = await serve(ending, failingServer(outgoing))
    const mail = await startMailServer(ending)
    const sms = await startSmsServer()
    ending.after(sms.stop)
    const metricsPort = await freePort()
    const { url } = await startServerProcess(ending, {
      ...mail.env,
      ...sms.env,
      ...telemetry(collector.url, metricsPort),
      ...features(upstream),
    })
    const client = createClient(url, secrets)
    await signUp(client, mail, sms)
    await useFactors(client)
    await useOauthServer(client)
    await failOtherRequests(client)
    await client.request('GET', '/health')
    const isLast = ({ name }: { name: string }) => name === 'GET /health'
    await until(() => collector.spans().some(isLast))
    exported = await (await fetch(`http://127.0.0.1:${metricsPort}/`)).text()
  })

  test('contain no secret, address or client value of failing requests', () => {
    const received = collector.received.map(({ body }) => body.toString('latin1')).join('\n')
    assert.ok(collector.spans().length > 500)
    assert.ok(secrets.size > 30)
    for (const [name, secret] of secrets) {
      for (const form of encodeForms(secret)) {
        assert.ok(!received.includes(form), `${name} is in a span: ${around(received, form)}`)
        assert.ok(!exported.includes(form), `${name} is in a metric: ${around(exported, form)}`)
      }
    }
  })

  test('contain no host name set by an OAuth client', () => {
    const isCounted = exported.includes('postern_outgoing_requests_total{host="oauth_client",')
    assert.ok(isCounted)
    assert.ok(!exported.includes(documentHost))
  })

  test('propagate the trace of a request to other servers without the client’s baggage', () => {
    assert.ok(outgoing.length > 0)
    for (const { baggage, traceparent } of outgoing) {
      assert.match(String(traceparent), /^00-/)
      assert.equal(baggage, undefined)
    }
  })
})

function telemetry(collectorUrl: string, port: number) {
  return {
    AUTH_TRACING_ENABLED: 'true',
    AUTH_TRACING_EXPORTER: 'opentelemetry',
    OTEL_EXPORTER_OTLP_ENDPOINT: collectorUrl,
    OTEL_BSP_SCHEDULE_DELAY: '100',
    AUTH_METRICS_ENABLED: 'true',
    AUTH_METRICS_EXPORTER: 'prometheus',
    OTEL_EXPORTER_PROMETHEUS_HOST: '127.0.0.1',
    OTEL_EXPORTER_PROMETHEUS_PORT: String(port),
  }
}

function features(upstream: number) {
  const at = `http://localhost:${upstream}`
  return {
    AUTH_SMTP_MAX_FREQUENCY: '0',
    AUTH_RATE_LIMIT_EMAIL_SENT: '100000',
    AUTH_OAUTH_SERVER_ENABLED: 'true',
    AUTH_EXPERIMENTAL_SCIM_ENABLED: 'true',
    AUTH_ORGANIZATIONS_ENABLED: 'true',
    AUTH_HOOK_AFTER_USER_CREATED_ENABLED: 'true',
    AUTH_HOOK_AFTER_USER_CREATED_URI: `${at}/hook?token=${sent.hookUrlToken}`,
    AUTH_HOOK_AFTER_USER_CREATED_SECRETS: `v1,whsec_${hookSecret}`,
    AUTH_EXTERNAL_GITLAB_ENABLED: 'true',
    AUTH_EXTERNAL_GITLAB_CLIENT_ID: 'gitlab-client',
    AUTH_EXTERNAL_GITLAB_SECRET: sent.providerSecret,
    AUTH_EXTERNAL_GITLAB_REDIRECT_URI: 'http://auth.example/callback',
    AUTH_EXTERNAL_GITLAB_URL: at,
  }
}

/** Repeats the request in its error, like some providers. */
function failingServer(outgoing: NodeJS.Dict<string | string[]>[]) {
  return createServer(async (request, response) => {
    outgoing.push(request.headers)
    const body = Buffer.concat(await request.toArray()).toString()
    response.writeHead(400, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ error: 'invalid_grant', error_description: request.url + body }))
  })
}

type Client = ReturnType<typeof createClient>

/** Sends requests, and keeps every secret of a response. */
function createClient(url: string, secrets: Map<string, string>) {
  function keep(place: string, value: unknown): void {
    if (typeof value !== 'object' || value === null) return
    for (const [key, inner] of Object.entries(value)) {
      const isSecret = typeof inner === 'string' && inner.length > 8 && secretFields.test(key)
      if (isSecret && key !== 'token_type') secrets.set(`${place} ${key} ${secrets.size}`, inner)
      keep(place, inner)
    }
  }

  async function request(method: string, path: string, body?: object | string, token?: string) {
    const response = await fetch(url + path, {
      method,
      redirect: 'manual',
      headers: {
        traceparent: `00-${'c'.repeat(32)}-${'d'.repeat(16)}-01`,
        baggage: `user=${sent.baggage}`,
        ...(body !== undefined && {
          'content-type':
            typeof body === 'string' && !body.startsWith('{')
              ? 'application/x-www-form-urlencoded'
              : 'application/json',
        }),
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const location = response.headers.get('location') ?? undefined
    const text = await response.text()
    const json = text.startsWith('{') ? JSON.parse(text) : {}
    keep(`${method} ${path.split('?')[0]}`, json)
    return { status: response.status, location, json }
  }

  return { request, secrets }
}

async function signUp(
  { request, secrets }: Client,
  mail: Awaited<ReturnType<typeof startMailServer>>,
  sms: Awaited<ReturnType<typeof startSmsServer>>,
) {
  const pkce = { code_challenge: challenge, code_challenge_method: 's256' }
  const data = { note: sent.queryToken }
  await request('POST', '/signup', { email, password, data, ...pkce })
  await request('POST', '/signup', `{"email":"${email}","password":"${password}"`)
  const message = await mail.waitFor(email)
  const path = emailedPath(linkIn(message))
  secrets.set('link token', new URL(linkIn(message)).searchParams.get('token') ?? '')
  await request('POST', '/verify', { type: 'signup', email, token: `${codeIn(message)}0` })
  const opened = await request('GET', path)
  const auth_code = new URL(opened.location ?? '').searchParams.get('code')
  secrets.set('authorization code', auth_code ?? '')
  await request('POST', '/token?grant_type=pkce', { auth_code, code_verifier: `${verifier}x` })
  await request('POST', '/token?grant_type=pkce', { auth_code, code_verifier: verifier })
  const wrong = { email, password: sent.wrongPassword }
  await request('POST', '/token?grant_type=password', wrong)
  await request('POST', `/token?grant_type=${sent.grantType}`, wrong)
  await request('POST', '/otp', { phone })
  await request('POST', '/verify', { type: 'sms', phone, token: await sms.code(phone) })
  sms.state.rejects = true
  await request('POST', '/otp', { phone })
  await request('POST', '/recover', { email, code_challenge: challenge })
  await request('POST', '/magiclink', { email })
}

async function useFactors({ request }: Client) {
  const grant = { email, password }
  const { json: session } = await request('POST', '/token?grant_type=password', grant)
  const token = session.access_token
  const { refresh_token } = session
  await request('POST', '/token?grant_type=refresh_token', { refresh_token })
  await request('POST', '/token?grant_type=refresh_token', { refresh_token: `${refresh_token}x` })
  await request('GET', '/user', undefined, `${token}x`)
  const { json: factor } = await request('POST', '/factors', { factor_type: 'totp' }, token)
  const at = `/factors/${factor.id}`
  const { json: asked } = await request('POST', `${at}/challenge`, {}, token)
  const answer = { challenge_id: asked.id, code: totpCode(factor.totp.secret) }
  await request('POST', `${at}/verify`, { ...answer, code: '000000' }, token)
  await request('POST', `${at}/verify`, answer, token)
  await request('POST', '/factors/recovery_codes', {}, token)
  await request('PUT', '/user', { password: sent.newPassword }, token)
  await request('GET', `/factors/${token}/challenge`, undefined, token)
}

async function useOauthServer({ request }: Client) {
  const admin = await serviceRole()
  const redirect_uri = 'https://app.example/callback'
  const fields = { client_name: 'App', redirect_uris: [redirect_uri] }
  const { json: client } = await request('POST', '/admin/oauth/clients', fields, admin)
  const { client_id, client_secret } = client
  const asked = new URLSearchParams({
    client_id,
    redirect_uri,
    response_type: 'code',
    scope: 'openid',
    state: sent.queryToken,
    code_challenge: challenge,
    code_challenge_method: 'S256',
  })
  const secret = new URLSearchParams({ client_id, client_secret })
  await request('POST', '/oauth/par', `${asked}&client_secret=${client_secret}`)
  const { location = '' } = await request('GET', `/oauth/authorize?${asked}`)
  const id = new URL(location, 'http://app.example').searchParams.get('authorization_id')
  await request('GET', `/oauth/authorizations/${id}`, undefined, admin)
  await request('POST', '/oauth/token', `${secret}&grant_type=authorization_code&code=${password}`)
  await request('POST', '/oauth/introspect', `${secret}&token=${sent.queryToken}`)
  await request('POST', '/oauth/revoke', `${secret}&token=${sent.queryToken}`)
  await request('POST', '/oauth/device_authorization', `${secret}`)
  await request('POST', '/oauth/token', `${secret}&grant_type=${sent.grantType}`)
  const document = `https://${documentHost}/client.json`
  const foreign = new URLSearchParams({ ...Object.fromEntries(asked), client_id: document })
  await request('GET', `/oauth/authorize?${foreign}`)
}

async function failOtherRequests({ request, secrets }: Client) {
  const admin = await serviceRole()
  secrets.set('service token', admin)
  secrets.set('signing secret', needed.AUTH_JWT_SECRET)
  secrets.set('encryption key', needed.AUTH_ENCRYPTION_KEY)
  const link = { type: 'magiclink', email }
  await request('POST', '/admin/generate_link', link, admin)
  await request('GET', `/admin/users/${sent.pathToken}@example.com`, undefined, admin)
  await request('GET', `/no/such/${sent.pathToken}?token=${sent.queryToken}`)
  await request('GET', `/scim/v2/${crypto.randomUUID()}/Users`, undefined, sent.scimToken)
  await request('POST', '/sso', { domain: `${sent.queryToken}.example` })
  await request('POST', '/sso/saml/acs', `SAMLResponse=${sent.queryToken}`)
  const { location = '' } = await request('GET', '/authorize?provider=gitlab')
  const state = new URL(location).searchParams.get('state') ?? ''
  secrets.set('state', state)
  await request('GET', `/callback?code=${sent.providerCode}&state=${encodeURIComponent(state)}`)
  await request('GET', `/authorize?provider=${sent.grantType}`)
}

/** As it is, in a URL, in base64, and hashed as it may be stored. */
function encodeForms(secret: string): string[] {
  const bytes = Buffer.from(secret)
  const hashes = ['sha256', 'sha224', 'md5'].map((name) =>
    createHash(name).update(secret).digest('hex'),
  )
  return [
    secret,
    encodeURIComponent(secret),
    bytes.toString('base64'),
    bytes.toString('hex'),
  ].concat(hashes)
}

function around(text: string, part: string): string {
  const at = text.indexOf(part)
  return text.slice(Math.max(0, at - 80), at + 80)
}
