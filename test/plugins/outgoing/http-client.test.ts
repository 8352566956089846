import assert from 'node:assert/strict'
import dns from 'node:dns'
import { suite, type TestContext, test } from 'node:test'
import { gzipSync } from 'node:zlib'

import {
  createHttpClient,
  type HttpClientOptions,
} from '../../../plugins/outgoing/http-client/index.ts'
import {
  isPublicAddress,
  publicLookup,
} from '../../../plugins/outgoing/http-client/public-addresses.ts'
import { vendorServer } from '../../support/vendor-server.ts'

const noProxies = { httpProxy: undefined, httpsProxy: undefined, noProxy: undefined }

function client(t: TestContext, options: Partial<HttpClientOptions> = {}) {
  const made = createHttpClient({ dev: false, proxy: noProxies, ...options })
  t.after(made.close)
  return made
}

suite('fetch', () => {
  test('sends form, method and User-Agent, and reads the response', async (t) => {
    const vendor = await vendorServer(t, { json: { good: true } })
    const body = new URLSearchParams({ a: '1 & 2' })

    const response = await client(t).fetch(`${vendor.url}/x?y=1`, { method: 'POST', body })

    assert.deepEqual(await response.json(), { good: true })
    const [seen] = vendor.seen
    assert.equal(seen?.method, 'POST')
    assert.equal(seen.path, '/x?y=1')
    assert.deepEqual(seen.form, { a: '1 & 2' })
    assert.match(seen.headers['content-type'] ?? '', /^application\/x-www-form-urlencoded/)
    assert.equal(seen.headers['user-agent'], 'Postern')
  })

  test('accepts a Request, overridden by init', async (t) => {
    const vendor = await vendorServer(t, { text: 'ok' })
    const headers = { 'content-type': 'text/plain', 'user-agent': 'mine' }
    const request = new Request(vendor.url, { method: 'PUT', body: 'hello', headers })

    await client(t).fetch(request)
    await client(t).fetch(request.url, { method: 'DELETE' })

    assert.deepEqual(
      vendor.seen.map(({ method, body }) => [method, body]),
      [
        ['PUT', 'hello'],
        ['DELETE', ''],
      ],
    )
    assert.equal(vendor.seen[0]?.headers['content-type'], 'text/plain')
    assert.equal(vendor.seen[0]?.headers['user-agent'], 'mine')
  })

  test('uses the proxy for http except for NO_PROXY hosts', async (t) => {
    const proxy = await vendorServer(t, { text: 'from the proxy' })
    const direct = await vendorServer(t, { text: 'direct' })
    const { fetch } = client(t, {
      proxy: { httpProxy: proxy.url, httpsProxy: undefined, noProxy: '127.0.0.1,.internal' },
    })

    assert.equal(await (await fetch('http://vendor.example/a')).text(), 'from the proxy')
    assert.equal(await (await fetch(direct.url)).text(), 'direct')
    assert.deepEqual(
      proxy.seen.map(({ path, headers }) => [path, headers.host]),
      [['http://vendor.example/a', 'vendor.example']],
    )
  })

  test('rejects a body above the limit, compressed or not', async (t) => {
    const packed = { text: gzipSync(Buffer.alloc(1001)), headers: { 'content-encoding': 'gzip' } }
    const vendor = await vendorServer(
      t,
      { text: 'x'.repeat(1000) },
      { text: 'x'.repeat(1001) },
      packed,
    )
    const { fetch } = client(t, { maxBytes: 1000 })

    assert.equal((await (await fetch(vendor.url)).text()).length, 1000)
    await assert.rejects(fetch(vendor.url), /longer than 1000 bytes/)
    await assert.rejects(fetch(vendor.url), /longer than 1000 bytes/)
  })

  test('removes headers of a decoded content encoding', async (t) => {
    const headers = { 'content-encoding': 'gzip' }
    const vendor = await vendorServer(t, { text: gzipSync('hello'), headers })

    const response = await client(t).fetch(vendor.url)

    assert.equal(await response.text(), 'hello')
    assert.equal(response.headers.get('content-encoding'), null)
    assert.equal(response.headers.get('content-length'), null)
  })

  test('ignores proxy variables of the environment that are not configured', async (t) => {
    const { HTTP_PROXY } = process.env
    process.env.HTTP_PROXY = 'http://127.0.0.1:9'
    t.after(() => {
      if (HTTP_PROXY === undefined) delete process.env.HTTP_PROXY
      else process.env.HTTP_PROXY = HTTP_PROXY
    })
    const vendor = await vendorServer(t, { text: 'direct' })

    assert.equal(await (await client(t).fetch(vendor.url)).text(), 'direct')
  })
})

suite('guardedFetch outside development', () => {
  const rejected = [
    'http://example.com/',
    'ftp://example.com/',
    'data:text/plain,hello',
    'https://127.0.0.1/',
    'https://2130706433/',
    'https://0x7f.1/',
    'https://[::1]/',
    'https://[::ffff:10.0.0.1]/',
    'https://10.1.2.3/',
    'https://169.254.169.254/latest/meta-data/',
    'https://[fd00:ec2::254]/',
    'https://168.63.129.16/',
  ]
  for (const url of rejected) {
    test(`rejects ${url}`, async (t) => {
      await assert.rejects(client(t).guardedFetch(url), {
        name: 'TypeError',
        message: /is not public|only https is allowed/,
      })
    })
  }

  test('does not connect to a name that resolves to a private address', async (t) => {
    const vendor = await vendorServer(t, { text: 'secret' })

    await assert.rejects(
      client(t).guardedFetch(`https://localhost:${vendor.port}/`),
      (error: Error) => /no public address/.test(String(error.cause)),
    )
    assert.equal(vendor.connections(), 0)
  })

  test('bypasses the proxy for loopback', async (t) => {
    const proxy = await vendorServer(t, { text: 'from the proxy' })
    const target = await vendorServer(t, { text: 'from here' })
    const { fetch, guardedFetch } = client(t, {
      proxy: { httpProxy: proxy.url, httpsProxy: proxy.url, noProxy: '.internal' },
    })

    assert.equal(await (await fetch(target.url)).text(), 'from here')
    const { port } = new URL(target.url)
    await assert.rejects(guardedFetch(`https://localhost:${port}/`), TypeError)
    assert.deepEqual(proxy.seen, [])
  })

  test('sends names to the proxy and rejects private addresses', async (t) => {
    const proxy = await vendorServer(t, { text: '' })
    const connects: string[] = []
    proxy.server.on('connect', (request, socket) => {
      connects.push(request.url ?? '')
      socket.end('HTTP/1.1 502 No\r\n\r\n')
    })
    const { guardedFetch } = client(t, { proxy: { ...noProxies, httpsProxy: proxy.url } })

    await assert.rejects(guardedFetch('https://templates.example/a'))
    await assert.rejects(guardedFetch('https://10.0.0.1/a'))
    assert.deepEqual(connects, ['templates.example:443'])
  })
})

suite('guardedFetch: limits', () => {
  test('allows loopback and http in development and returns the whole response', async (t) => {
    const headers = { 'content-type': 'text/html', etag: '"1"' }
    const vendor = await vendorServer(t, { status: 404, text: 'no such page', headers })

    const response = await client(t, { dev: true }).guardedFetch(vendor.url)

    assert.equal(response.status, 404)
    assert.equal(response.headers.get('etag'), '"1"')
    assert.equal(await response.text(), 'no such page')
  })

  test('returns a 204 response', async (t) => {
    const vendor = await vendorServer(t, { status: 204 })
    assert.equal((await client(t, { dev: true }).guardedFetch(vendor.url)).status, 204)
  })

  test('does not follow redirects', async (t) => {
    const target = await vendorServer(t, { text: 'inside' })
    const vendor = await vendorServer(t, { status: 302, headers: { location: target.url } })

    await assert.rejects(client(t, { dev: true }).guardedFetch(vendor.url, { redirect: 'follow' }))
    assert.equal(target.connections(), 0)
  })

  test('accepts a body of exactly the limit and rejects a larger one', async (t) => {
    const vendor = await vendorServer(t, { text: 'x'.repeat(1000) }, { text: 'x'.repeat(1001) })
    const { guardedFetch } = client(t, { dev: true, guardMaxBytes: 1000 })

    assert.equal((await (await guardedFetch(vendor.url)).text()).length, 1000)
    await assert.rejects(guardedFetch(vendor.url), /longer than 1000 bytes/)
  })

  test('applies the limit to the decompressed body', async (t) => {
    const bomb = gzipSync(Buffer.alloc(100_000))
    const vendor = await vendorServer(t, { text: bomb, headers: { 'content-encoding': 'gzip' } })
    const { guardedFetch } = client(t, { dev: true, guardMaxBytes: 10_000 })

    assert.ok(bomb.length < 10_000)
    await assert.rejects(guardedFetch(vendor.url), /longer than/)
  })

  for (const slowness of ['hang', 'stall'] as const) {
    test(`times out when the server ${slowness === 'hang' ? 'does not respond' : 'stops within the body'}`, async (t) => {
      const vendor = await vendorServer(t, slowness)
      const { guardedFetch } = client(t, { dev: true, guardTimeoutMs: 100 })

      await assert.rejects(guardedFetch(vendor.url), { name: 'TimeoutError' })
    })
  }

  test('the caller’s signal does not extend the deadline', async (t) => {
    const vendor = await vendorServer(t, 'hang')
    const { guardedFetch } = client(t, { dev: true, guardTimeoutMs: 100 })
    const { signal } = new AbortController()

    await assert.rejects(guardedFetch(vendor.url, { signal }), { name: 'TimeoutError' })
  })

  test('the caller’s signal aborts the request', async (t) => {
    const vendor = await vendorServer(t, 'hang')
    const signal = AbortSignal.timeout(50)

    await assert.rejects(client(t, { dev: true }).guardedFetch(vendor.url, { signal }), {
      name: 'TimeoutError',
    })
  })
})

suite('isPublicAddress', () => {
  const open = ['1.1.1.1', '93.184.216.34', '2606:4700::1111', '::ffff:8.8.8.8']
  const closed = [
    ['0.0.0.0', '127.0.0.1', '127.9.9.9', '10.0.0.1', '172.16.0.1', '192.168.1.1'],
    ['100.64.0.1', '100.100.100.200', '169.254.169.254', '192.0.0.192', '198.18.0.1'],
    ['224.0.0.1', '240.0.0.1', '255.255.255.255', '168.63.129.16', '::ffff:168.63.129.16'],
    [
      '::',
      '::1',
      'fe80::1',
      'fe80::1%eth0',
      'fc00::1',
      'fd00:ec2::254',
      'fec0::1',
      'ff02::1',
      '4000::1',
    ],
    ['::ffff:127.0.0.1', '::127.0.0.1', '64:ff9b::a00:1', '2002:7f00:1::', '2001:db8::1'],
  ].flat()
  test('accepts public addresses', () => {
    assert.deepEqual(open.filter(isPublicAddress), open)
  })
  test('rejects all other addresses', () => {
    assert.deepEqual(closed.filter(isPublicAddress), [])
  })

  test('resolves a name to its public addresses only', async (t) => {
    const both = [
      { address: '10.0.0.1', family: 4 },
      { address: '93.184.216.34', family: 4 },
    ]
    t.mock.method(dns, 'lookup', (_name: string, _options: object, done: Done) => done(null, both))

    const all = await new Promise((resolve, reject) =>
      publicLookup('a.example', { all: true }, (error, found) =>
        error ? reject(error) : resolve(found),
      ),
    )
    const one = await new Promise((resolve, reject) =>
      publicLookup('a.example', {}, (error, found) => (error ? reject(error) : resolve(found))),
    )

    assert.deepEqual(all, [{ address: '93.184.216.34', family: 4 }])
    assert.equal(one, '93.184.216.34')
  })
})

type Done = (error: null, found: { address: string; family: number }[]) => void
