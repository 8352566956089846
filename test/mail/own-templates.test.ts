import assert from 'node:assert/strict'
import { resolve } from 'node:path'
import { suite, type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'

import { createOwnTemplates, type OwnTemplateOptions } from '../../mail/own-templates.ts'
import { sourceOf } from '../../mail/own-texts/source.ts'
import { createHttpClient } from '../../plugins/http-client.ts'
import { type Answer, startTemplateServer } from './template-server.ts'

const start = Date.parse('2026-03-04T05:06:07Z')
const maxBytes = 10_000
const noProxies = { httpProxy: undefined, httpsProxy: undefined, noProxy: undefined }

const unusable: [name: string, answer: Answer | string, reason: RegExp][] = [
  ['is not there', (response) => response.writeHead(404).end('<p>gone</p>'), /answered 404/],
  ['fails', (response) => response.writeHead(500).end('<p>sorry</p>'), /answered 500/],
  ['has no content', (response) => response.writeHead(204).end(), /answered 204/],
  ['is a part', (response) => response.writeHead(206).end('<p>part</p>'), /answered 206/],
  [
    'has moved',
    (response) => response.writeHead(302, { location: '/elsewhere' }).end(),
    /answered 302/,
  ],
  ['is empty', '  \n', /empty/],
  ['is too large', 'x'.repeat(maxBytes + 1), /larger than 10000 bytes/],
  [
    'is too large without saying so, and never ends',
    (response) => void response.write('x'.repeat(2 * maxBytes + 1)),
    /longer than 20000 bytes/,
  ],
  ['does not answer', () => {}, /timeout/],
  ['stops in the middle', (response) => void response.write('<p>'), /timeout/],
  ['breaks off', (response) => cutOff(response), /other side closed|terminated/],
  ['has a mistake', '<p>\n{{ if .Email }}\n', /line 2: \{\{ if \}\} has no \{\{ end \}\}/],
]

suite('templates from URLs', () => {
  test('a template is fetched once and kept for as long as it is good', async (t) => {
    const { server, templates, tick } = await open(t, '<p>{{ .Email }}</p>')

    assert.equal(await rendered(templates), '<p>ada@example.com</p>')
    tick(599)
    assert.equal(await rendered(templates), '<p>ada@example.com</p>')
    assert.deepEqual(server.paths, ['/mail.html?key=secret'])

    server.serve('<p>new</p>')
    tick(1)
    assert.equal(await rendered(templates), '<p>new</p>')
    assert.equal(server.paths.length, 2)
  })

  test('twenty mails at once fetch it once', async (t) => {
    let release = () => {}
    const { server, templates } = await open(t, (response) => {
      release = () => response.end('late')
    })

    const all = Array.from({ length: 20 }, () => rendered(templates))
    while (server.paths.length === 0) await pause(5)
    release()

    assert.deepEqual(new Set(await Promise.all(all)), new Set(['late']))
    assert.equal(server.paths.length, 1)
  })

  test('every kind has its own, and a kind without one asks nobody', async (t) => {
    const { server, templates } = await open(t, 'x')

    assert.equal(await templates.get('invite', 'en'), undefined)
    assert.equal(await templates.get('magic_link', 'en'), undefined)
    assert.equal(server.paths.length, 0)
  })

  test('exactly the largest size is taken', async (t) => {
    const { templates } = await open(t, 'x'.repeat(maxBytes))

    assert.equal((await rendered(templates))?.length, maxBytes)
  })

  for (const [name, answer, reason] of unusable) {
    test(`a template that ${name} is none, and the log says why`, async (t) => {
      const { templates, warnings, server } = await open(t, answer, { timeoutSeconds: 0.3 })

      assert.equal(await templates.get('recovery', 'en'), undefined)

      assert.equal(server.paths.length, 1)
      assert.equal(warnings.length, 1)
      const [{ reason: said, url }, message] = warnings[0] ?? [{}, '']
      assert.match(said ?? '', reason)
      assert.equal(url, `${server.url}/mail.html`)
      assert.match(message, /AUTH_MAILER_TEMPLATES_RECOVERY .* the built-in text is sent/)
    })

    test(`a template that ${name} later on leaves the last good copy`, async (t) => {
      const { server, templates, tick, warnings } = await open(t, 'good', { timeoutSeconds: 0.3 })
      await templates.get('recovery', 'en')
      server.serve(answer)
      tick(600)

      assert.equal(await rendered(templates), 'good')

      assert.match(warnings[0]?.[0].reason ?? '', reason)
      assert.match(warnings[0]?.[1] ?? '', /the last good copy is sent/)
    })
  }

  test('nobody listening is a reason like any other', async (t) => {
    const { templates, warnings } = await open(t, 'x', {
      templates: [{ kind: 'recovery', value: 'http://127.0.0.1:9/mail.html' }],
    })

    assert.equal(await templates.get('recovery', 'en'), undefined)

    assert.match(warnings[0]?.[0].reason ?? '', /ECONNREFUSED|bad port/)
  })

  test('after a failure it is tried again in 10 seconds, not sooner', async (t) => {
    const { server, templates, tick } = await open(t, unavailable)

    assert.equal(await rendered(templates), undefined)
    server.serve('back')
    tick(9.9)
    assert.equal(await rendered(templates), undefined)
    assert.equal(server.paths.length, 1)
    tick(0.1)
    assert.equal(await rendered(templates), 'back')
    tick(599)
    assert.equal(await rendered(templates), 'back')
    assert.equal(server.paths.length, 2)
  })

  test('a copy that could not be renewed is tried again in 10 seconds as well', async (t) => {
    const { server, templates, tick } = await open(t, 'old')
    await templates.get('recovery', 'en')
    server.serve(unavailable)
    tick(600)
    await templates.get('recovery', 'en')
    server.serve('new')
    tick(9.9)
    assert.equal(await rendered(templates), 'old')
    tick(0.1)
    assert.equal(await rendered(templates), 'new')
  })

  test('where templates are renewed in the background, no mail waits for a newer copy', async (t) => {
    const { server, templates, tick } = await open(t, 'old', { renewing: true })
    await templates.renew()
    let release = () => {}
    server.serve((response) => {
      release = () => response.end('new')
    })
    tick(600)

    assert.equal(await rendered(templates), 'old')
    const renewed = templates.renew()
    while (server.paths.length < 2) await pause(5)
    release()
    await renewed

    assert.equal(await rendered(templates), 'new')
    assert.equal(server.paths.length, 2)
  })

  test('renewing leaves alone what is still good', async (t) => {
    const { server, templates, tick } = await open(t, 'x', { renewing: true })

    for (let i = 0; i < 5; i++) await templates.renew()
    tick(599)
    await templates.renew()

    assert.equal(server.paths.length, 1)
  })

  const urls: [configured: string, url: string][] = [
    ['https://cdn.example/a.html', 'https://cdn.example/a.html'],
    ['HTTP://cdn.example/a.html', 'HTTP://cdn.example/a.html'],
    ['/mail/a.html', 'https://app.example/mail/a.html'],
    ['mail/a.html', 'https://app.example/mail/a.html'],
    ['//evil.example/a.html', 'https://app.example/evil.example/a.html'],
    ['file:///etc/passwd', 'https://app.example/file:///etc/passwd'],
  ]
  for (const [configured, url] of urls) {
    test(`${configured} is ${url}`, () => {
      const places = { siteUrl: 'https://app.example/', folder: undefined }
      assert.deepEqual(sourceOf(configured, places), { from: 'url', url })
    })
  }
})

suite('templates from files', () => {
  const places = { siteUrl: 'https://app.example', folder: '/srv/mail/' }

  for (const name of ['a.html', './de/a.html', 'de/../a.html', '..a.html']) {
    test(`${name} is a file of the folder`, () => {
      assert.deepEqual(sourceOf(name, places), { from: 'file', path: resolve('/srv/mail', name) })
    })
  }

  for (const name of ['../mail.html', '../mail-of-others/a.html', 'de/../../a.html', '.']) {
    test(`${name} is none`, () => {
      assert.throws(() => sourceOf(name, places), /leads out of AUTH_TEMPLATES_DIR/)
    })
  }

  test('a path with a slash in front is one of the site', () => {
    assert.deepEqual(sourceOf('/etc/passwd', places), {
      from: 'url',
      url: 'https://app.example/etc/passwd',
    })
  })
})

async function open(
  t: TestContext,
  answer: Answer | string,
  change: Partial<OwnTemplateOptions> = {},
) {
  t.mock.timers.enable({ apis: ['Date'], now: start })
  const server = await startTemplateServer(t, answer)
  const warnings: [{ reason?: string; url?: string }, string][] = []
  const client = createHttpClient({ dev: true, proxy: noProxies, maxBytes: 2 * maxBytes })
  t.after(client.close)
  const templates = createOwnTemplates({
    fetch: client.fetch,
    siteUrl: 'https://app.example',
    folder: undefined,
    templates: [
      { kind: 'recovery', value: ` ${server.url}/mail.html?key=secret ` },
      { kind: 'magic_link', value: ' ' },
    ],
    maxAgeSeconds: 600,
    retrySeconds: 10,
    timeoutSeconds: 5,
    maxBytes,
    renewing: false,
    rereading: false,
    log: { warn: (details, message) => void warnings.push([details, message]) },
    ...change,
  })
  const tick = (seconds: number) => t.mock.timers.tick(seconds * 1000)
  return { server, templates, warnings, tick }
}

async function rendered(templates: ReturnType<typeof createOwnTemplates>) {
  return (await templates.get('recovery', 'en'))?.render({ Email: 'ada@example.com' })
}

function unavailable(response: Parameters<Answer>[0]) {
  response.writeHead(503).end()
}

function cutOff(response: Parameters<Answer>[0]) {
  response.writeHead(200, { 'content-length': '100' })
  response.write('<p>', () => response.destroy())
}
