/** Responses of a hook receiver, and missing responses. */
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { suite, test } from 'node:test'

import { Webhook } from 'standardwebhooks'

import { createMetrics } from '../../../../plugins/observability/telemetry/index.ts'
import { withoutTracing } from '../../../../plugins/observability/telemetry/tracing.ts'
import { createCaller } from '../../../../plugins/outgoing/hooks/caller.ts'
import { httpTransport, maxResponseBytes } from '../../../../plugins/outgoing/hooks/http.ts'
import { createHttpClient } from '../../../../plugins/outgoing/http-client/index.ts'
import { HookError } from '../../../../schemas/errors.ts'
import { endingOfSuite } from '../../../support/processes/ending.ts'
import { freePort } from '../../../support/processes/free-port.ts'
import { statusAndCode } from '../../../support/requests.ts'
import { build } from '../../../support/server.ts'
import { newAddress, signUp } from '../../../support/users.ts'
import { vendorServer } from '../../../support/vendor-server.ts'
import {
  type HookReply,
  hookEnv,
  hookSecret,
  startHookReceiver,
} from '../../../support/webhooks/hook-receiver.ts'

const unwatched = {
  log: { warn: () => {} },
  metrics: createMetrics(undefined),
  tracing: withoutTracing,
}
const proxy = { httpProxy: undefined, httpsProxy: undefined, noProxy: undefined }
const limits = { maxBytes: maxResponseBytes, guardMaxBytes: maxResponseBytes }

const json = (body: string | object): HookReply => ({ status: 200, body })
const retry = (status: number, after: string): HookReply => ({
  status,
  headers: { 'retry-after': after },
})

/** The response, the number of calls, and the client’s status and error code, if any. */
const rows: [name: string, reply: HookReply, calls: number, heard: [number, string] | undefined][] =
  [
    ['204', { status: 204 }, 1, undefined],
    ['200 with an object', json({ a: 1 }), 1, undefined],
    ['202 with an object', { status: 202, body: '{}' }, 1, undefined],
    ['201 with an object', { status: 201, body: '{}' }, 1, [500, 'unexpected_failure']],
    [
      'a content type with parameters',
      { ...json({}), headers: { 'content-type': 'Application/JSON; charset=utf-8' } },
      1,
      undefined,
    ],
    ['an error', json({ error: { http_code: 403, message: 'no' } }), 1, [403, 'unknown']],
    ['an error without status', json({ error: { message: 'no' } }), 1, [500, 'unexpected_failure']],
    [
      'an error with an invalid status',
      json({ error: { http_code: 200, message: 'no' } }),
      1,
      [500, 'unexpected_failure'],
    ],
    [
      'an error of 500',
      json({ error: { http_code: 500, message: 'no' } }),
      1,
      [500, 'unexpected_failure'],
    ],
    ['an empty error', json({ error: { http_code: 0, message: '' } }), 1, undefined],
    ['a null error', json('{"error":null}'), 1, undefined],
    [
      'an error with a status only',
      json({ error: { http_code: 403, message: '' } }),
      1,
      [403, 'unknown'],
    ],
    [
      'another content type',
      { ...json('{}'), headers: { 'content-type': 'text/plain' } },
      1,
      [400, 'hook_payload_invalid_content_type'],
    ],
    [
      'no content type',
      { act: (response) => void response.writeHead(200).end('{}') },
      1,
      [400, 'hook_payload_invalid_content_type'],
    ],
    [
      'a response of maximum size',
      json(JSON.stringify({ a: 'x'.repeat(maxResponseBytes - 8) })),
      1,
      undefined,
    ],
    [
      'a response one byte too large',
      json(JSON.stringify({ a: 'x'.repeat(maxResponseBytes - 7) })),
      1,
      [422, 'hook_payload_over_size_limit'],
    ],
    ['1 MB', json(`{"a":"${'x'.repeat(1_048_576)}"}`), 1, [422, 'hook_payload_over_size_limit']],
    [
      '1 MB of an error page',
      { status: 500, body: 'x'.repeat(1_048_576) },
      1,
      [500, 'unexpected_failure'],
    ],
    ['malformed JSON', json('{"a":'), 1, [500, 'unexpected_failure']],
    ['JSON that is not an object', json('[1]'), 1, [500, 'unexpected_failure']],
    ['301', { status: 301, headers: { location: '/elsewhere' } }, 1, [500, 'unexpected_failure']],
    ['307', { status: 307, headers: { location: '/elsewhere' } }, 1, [500, 'unexpected_failure']],
    ['400', { status: 400, body: '{"error":{"http_code":403}}' }, 1, [500, 'unexpected_failure']],
    ['404', { status: 404 }, 1, [500, 'unexpected_failure']],
    ['500', { status: 500 }, 1, [500, 'unexpected_failure']],
    ['429', { status: 429 }, 1, [500, 'unexpected_failure']],
    ['503', { status: 503 }, 1, [500, 'unexpected_failure']],
    ['429 with Retry-After', retry(429, 'true'), 3, [500, 'unexpected_failure']],
    ['503 with Retry-After', retry(503, '0'), 3, [500, 'unexpected_failure']],
    ['503 with Retry-After beyond the deadline', retry(503, '5'), 1, [500, 'unexpected_failure']],
  ]

// Slow cases wait for timers; few at a time leave each call most of its five seconds.
suite('hook over HTTP', { concurrency: 3 }, () => {
  const ending = endingOfSuite()
  const client = createHttpClient({ dev: false, proxy, ...limits })
  ending.after(client.close)

  const createTestCaller = (url: string, secrets = [hookSecret], fetch = client.fetch) =>
    createCaller('send-sms', httpTransport({ url, secrets, fetch }), unwatched)

  test('limits responses to 200 KiB', () => {
    assert.equal(maxResponseBytes, 200 * 1024)
  })

  for (const [name, reply, calls, received] of rows) {
    test(`${name}: ${received ? `returns ${received.join(' ')}` : 'is accepted'}`, async (t) => {
      const receiver = await startHookReceiver(t)
      receiver.reply(() => reply)
      const pending = createTestCaller(receiver.url)({ user: {} }, { ip: '192.0.2.1' })
      if (received) assert.deepEqual(await getRejection(pending), received)
      else await pending
      assert.equal(receiver.calls.length, calls)
    })
  }

  test('returns the error message to the client', async (t) => {
    const receiver = await startHookReceiver(t)
    receiver.answer({ error: { http_code: 403, message: 'Only for members' } })
    await assert.rejects(createTestCaller(receiver.url)({}, { ip: null }), /Only for members/)
  })

  test('logs which hook failed and why, and no rejections', async (t) => {
    const receiver = await startHookReceiver(t)
    const lines: object[] = []
    const log = { warn: (fields: object) => void lines.push(fields) }
    const transport = httpTransport({
      url: receiver.url,
      secrets: [hookSecret],
      fetch: client.fetch,
    })
    const caller = createCaller('send-sms', transport, { ...unwatched, log })
    const replies = [{ status: 401 }, json('<'), json({ error: { http_code: 403, message: 'no' } })]
    for (const reply of replies) {
      receiver.reply(reply)
      await getRejection(caller({}, { ip: null }))
    }

    assert.deepEqual(lines, [
      { hook: 'send-sms', reason: 'the hook responded with status 401' },
      { hook: 'send-sms', reason: `Unexpected token '<', "<" is not valid JSON` },
    ])
  })

  test('has a new id, time and signature per attempt', async (t) => {
    const receiver = await startHookReceiver(t)
    receiver.reply((_, count) => (count < 3 ? retry(429, '0') : json({ done: true })))
    const response = await createTestCaller(receiver.url)({ sms: 1 }, { ip: '192.0.2.1' })

    assert.deepEqual(response, { done: true })
    const ids = receiver.calls.map(({ headers }) => headers['webhook-id'])
    assert.equal(new Set(ids).size, 3)
    const [first] = receiver.calls
    const { uuid, time, ...rest } = first?.event.metadata ?? assert.fail()
    assert.match(uuid, /^[0-9a-f-]{36}$/)
    assert.ok(Math.abs(Date.parse(time) - Date.now()) < 60_000)
    assert.deepEqual(rest, { name: 'send-sms', ip_address: '192.0.2.1' })
    assert.deepEqual(Object.keys(first?.event ?? {}), ['metadata', 'sms'])
  })

  test('waits for Retry-After in seconds', async (t) => {
    const receiver = await startHookReceiver(t)
    receiver.reply((_, count) => (count < 2 ? retry(503, '1') : {}))
    const start = performance.now()
    await createTestCaller(receiver.url)({}, { ip: null })
    assert.ok(performance.now() - start > 990)
  })

  test('signs with each secret', async (t) => {
    const old = `v1,whsec_${Buffer.alloc(24, 1).toString('base64')}`
    for (const secret of [hookSecret, old]) {
      const receiver = await startHookReceiver(t, { secret })
      await createTestCaller(receiver.url, [hookSecret, old])({}, { ip: null })
      const { headers } = receiver.calls[0] ?? assert.fail()
      assert.match(String(headers['webhook-signature']), /^v1,\S{44} v1,\S{44}$/)
    }
  })

  test('signs as specified, and not at all without a secret', async () => {
    const sent: { headers: Headers; body: string }[] = []
    const fetch: typeof globalThis.fetch = async (_, init) => {
      sent.push({ headers: new Headers(init?.headers), body: String(init?.body) })
      return new Response(null, { status: 204 })
    }
    await createTestCaller('https://hooks.example', [hookSecret], fetch)({}, { ip: null })
    await createTestCaller('https://hooks.example', [], fetch)({}, { ip: null })
    const [signed, plain] = sent.map(({ headers, body }) => ({
      id: headers.get('webhook-id') ?? '',
      timestamp: headers.get('webhook-timestamp') ?? '',
      signature: headers.get('webhook-signature'),
      body,
    }))
    assert.ok(signed && plain)
    const text = `${signed.id}.${signed.timestamp}.${signed.body}`
    const digest = createHmac('sha256', Buffer.alloc(32, 7)).update(text).digest('base64')
    assert.equal(signed.signature, `v1,${digest}`)
    assert.equal(plain.signature, '')
    assert.throws(() => new Webhook(hookSecret.replace('v1,', '')).verify(plain.body, {}))
  })

  test('returns 422 hook_timeout after five seconds without a response', async (t) => {
    const receiver = await startHookReceiver(t)
    receiver.reply({ act: () => {} })
    const start = performance.now()
    assert.deepEqual(await getRejection(createTestCaller(receiver.url)({}, { ip: null })), [
      422,
      'hook_timeout',
    ])
    assert.ok(performance.now() - start > 4900)
    assert.equal(receiver.calls.length, 1)
  })

  test('returns 422 hook_timeout for a response that never ends', async (t) => {
    const receiver = await startHookReceiver(t)
    const headers = { 'content-type': 'application/json' }
    receiver.reply({ act: (response) => void response.writeHead(200, headers).write('{"a":') })
    assert.deepEqual(await getRejection(createTestCaller(receiver.url)({}, { ip: null })), [
      422,
      'hook_timeout',
    ])
  })

  test('returns 422 hook_timeout_after_retry after three failed connections', async () => {
    const start = performance.now()
    const pending = createTestCaller(`http://127.0.0.1:${await freePort()}/`)({}, { ip: null })
    assert.deepEqual(await getRejection(pending), [422, 'hook_timeout_after_retry'])
    assert.ok(performance.now() - start > 3900)
  })

  test('succeeds when the receiver is available again for a retry', async (t) => {
    const receiver = await startHookReceiver(t)
    receiver.reply((_, count) =>
      count === 1 ? { act: (response) => void response.destroy() } : json({ done: true }),
    )
    assert.deepEqual(await createTestCaller(receiver.url)({}, { ip: null }), { done: true })
    assert.equal(receiver.calls.length, 2)
  })

  for (const url of ['https://10.0.0.1/', 'https://169.254.169.254/', 'http://hooks.example/']) {
    test(`rejects ${url} with 500 without a call`, async () => {
      const pending = createTestCaller(url, [hookSecret], client.guardedFetch)({}, { ip: null })
      assert.deepEqual(await getRejection(pending), [500, 'unexpected_failure'])
    })
  }
})

test('calls a hook on the container host without the proxy', async (t) => {
  const proxy = await vendorServer(t, { text: '{}' })
  const env = {
    ...hookEnv('http://host.docker.internal:8099/hook', ['BEFORE_USER_CREATED']),
    HTTP_PROXY: proxy.url,
  }
  const { app } = await build(t, { env })

  await signUp(app, { email: newAddress() })

  assert.deepEqual(proxy.seen, [])
})

test('does not call a hook while it is disabled', async (t) => {
  const receiver = await startHookReceiver(t)
  const env = {
    ...hookEnv(receiver.url, ['BEFORE_USER_CREATED']),
    AUTH_HOOK_BEFORE_USER_CREATED_ENABLED: 'false',
  }
  const { app } = await build(t, { env })
  assert.equal((await signUp(app, { email: newAddress() })).statusCode, 200)
  assert.deepEqual(receiver.calls, [])
})

test('rejects a hook at a private address without calling it', async (t) => {
  const env = hookEnv(`https://127.0.0.2:${await freePort()}/hook`, ['BEFORE_USER_CREATED'])
  const { app } = await build(t, { env })

  const response = await signUp(app, { email: newAddress() })

  // A called receiver that does not listen would be 422.
  assert.deepEqual(statusAndCode(response), [500, 'unexpected_failure'])
})

async function getRejection(pending: Promise<unknown>): Promise<[number, string]> {
  const thrown = await pending.then(
    () => assert.fail('the hook let it pass'),
    (error: unknown) => error,
  )
  assert.ok(thrown instanceof HookError, String(thrown))
  return [thrown.status, thrown.errorCode]
}
