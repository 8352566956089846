import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'

import type { EmailKind } from '../../mail/kinds/index.ts'
import { createMailTransport } from '../../mail/transport.ts'
import { rendererWith, samples } from './rendering.ts'
import { startSmtp, transportOptions } from './smtp.ts'
import { startTemplateServer } from './template-server.ts'

const subjects: [name: string, subject: string, expected: string, data?: object][] = [
  ['plain text', 'Welcome to us', 'Welcome to us'],
  ['a variable', '{{ .Token }} for {{ .Email }}', '123456 for ada@example.org'],
  ['metadata', 'Hello {{ .Data.name }}!', 'Hello Ada!'],
  ['a condition', '{{ if eq .Data.name "Ada" }}Dear Ada{{ else }}Hi{{ end }}', 'Dear Ada'],
  ['blanks only', '  ', 'Your sign-in link'],
  ['a blank result', '{{ .Data.nothing }} ', 'Your sign-in link'],
  ['a syntax error', '{{ if .Email }}', 'Your sign-in link'],
  [
    'unescaped characters',
    'Ada & <Bob> "{{ .Data.name }}"',
    'Ada & <Bob> "A&B <i>"',
    { name: 'A&B <i>' },
  ],
  ['a line break in a value', 'Hi {{ .Data.name }}', 'Hi a Bcc: b@c', { name: 'a\r\nBcc: b@c' }],
  ['other line separators', 'Hi {{ .Data.name }}', 'Hi a b c', { name: 'a\u2028b\u0085c' }],
  [
    'bidirectional overrides',
    'Hi {{ .Data.name }}',
    'Hi moc.\u200Blive',
    { name: '\u202emoc.live' },
  ],
  ['a very long value', '{{ .Data.name }}', 'x'.repeat(500), { name: 'x'.repeat(5000) }],
  ['a lone surrogate', 'Hi {{ .Data.name }}', 'Hi \ufffd!', { name: '\ud800!' }],
  ['template syntax in a value', '{{ .Data.name }}', '{{ .Token }}', { name: '{{ .Token }}' }],
]

const invalidCases: [source: string, reason: RegExp][] = [
  ['<p>\n\n{{ .Email', /line 3: .*not closed/],
  ['<p>\n{{ upper .Email }}', /line 2: function "upper" is not supported/],
  ['{{ range .Data }}\n{{ else }}\n', /line 1: .*no \{\{ end \}\}/],
  ['<script>\nlet a = "{{ .Email }}"\n</script>', /line 2: .*script/],
]

const metadata: Record<string, unknown> = {
  'a script': '<script>alert(1)</script>',
  'a closing quote with attributes': '" onmouseover="alert(1)" x="',
  'a custom link': '</p><a href="https://evil.example">Click</a>',
  'template syntax': '{{ .Token }} {{ .ConfirmationURL }}',
  'Liquid syntax': '{% assign x = 1 %}{{ "a" | upcase }}{%- raw -%}',
  'a comment': '<!-- {{/* */}} -->',
  'an object': { a: '<script>', toString: 'x' },
  'an array': ['<script>', ['<b>']],
  'a prototype key': JSON.parse('{"__proto__":{"x":"<script>"},"constructor":"<script>"}'),
}

suite('email rendering', () => {
  for (const [name, subject, expected, data] of subjects) {
    test(`renders a subject with ${name}`, async () => {
      const { renderer } = rendererWith({ subjects: { magic_link: subject } })

      const rendered = await renderer.render('magic_link', {
        ...samples.magic_link,
        ...(data && { Data: { ...data } }),
      })

      assert.equal(rendered.subject, expected)
    })
  }

  test('reports an error in a subject with its setting at startup', () => {
    const { warnings } = rendererWith({ subjects: { invite: 'Hi {{ nope }}' } })

    assert.match(warnings[0]?.message ?? '', /^AUTH_MAILER_SUBJECTS_INVITE has an error/)
    assert.match(warnings[0]?.details.reason ?? '', /line 1: .*"nope"/)
  })

  for (const [source, reason] of invalidCases) {
    test(`reports the line of the faulty template ${JSON.stringify(source)} and sends the built-in one`, async (t) => {
      const subject = 'Our own {{ .Token }}'
      const { renderer, warnings } = await withTemplate(t, source, { recovery: subject })

      const rendered = await renderer.render('recovery', samples.recovery)

      assert.equal(rendered.subject, 'Our own 123456')
      assert.match(rendered.html, /<h1[^>]*>Reset your password/)
      assert.match(rendered.text, /^Reset your password/)
      assert.equal(warnings.length, 1)
      assert.match(warnings[0]?.message ?? '', /AUTH_MAILER_TEMPLATES_RECOVERY/)
      assert.match(warnings[0]?.details.reason ?? '', reason)
    })
  }

  test('stops a template with unbounded output and sends the built-in one', async (t) => {
    const source = `a\n${'{{ range $.Data.list }}'.repeat(4)}xxxxxxxxxxxxxxxx${'{{ end }}'.repeat(4)}`
    const { renderer, warnings } = await withTemplate(t, source, {})
    const list = Array.from({ length: 100 }, (_, i) => i)

    const rendered = await renderer.render('recovery', { ...samples.recovery, Data: { list } })

    assert.match(rendered.html, /<h1[^>]*>Reset your password/)
    assert.equal(warnings[0]?.details.kind, 'recovery')
    assert.match(warnings[0]?.details.reason ?? '', /line 2: .*too large/)
  })

  test('keeps the configured subject when the template is unavailable', async () => {
    const { renderer, warnings } = rendererWith({
      templates: { recovery: 'http://127.0.0.1:9/' },
      subjects: { recovery: 'Our own' },
    })

    const { subject, html } = await renderer.render('recovery', samples.recovery)

    assert.equal(subject, 'Our own')
    assert.match(html, /<h1/)
    assert.equal(warnings.length, 1)
  })

  test('logs warnings without user data', async (t) => {
    const { renderer, warnings } = await withTemplate(t, '{{ if }}', { recovery: '{{ if }}' })

    await renderer.render('recovery', samples.recovery)

    assert.equal(warnings.length, 2)
    assert.doesNotMatch(JSON.stringify(warnings), /ada@|123456|5ec7e7/)
  })

  test('adds a plain-text part with links to a custom template', async (t) => {
    const source =
      '<h1>Hello {{ .Data.name }}</h1><p><a href="{{ .ConfirmationURL }}">Go on</a></p>'
    const { renderer } = await withTemplate(t, source, {})

    const { html, text } = await renderer.render('recovery', samples.recovery)

    const { ConfirmationURL: url } = samples.recovery
    assert.match(html, new RegExp(`href="${RegExp.escape(url.replaceAll('&', '&amp;'))}"`))
    assert.equal(text.replace(/\s+/g, ' '), `Hello Ada Go on <${url}> `)
  })

  for (const [name, value] of Object.entries(metadata)) {
    test(`escapes metadata with ${name}`, async (t) => {
      const source =
        '<p title="{{ .Data.x }}">{{ .Data.x }}</p>{{ range $k, $v := .Data }}<b>{{ $k }}={{ $v }}</b>{{ end }}'
      const { renderer, warnings } = await withTemplate(t, source, {})

      const { html } = await renderer.render('recovery', {
        ...samples.recovery,
        Data: { x: value, '<i>key': 1 },
      })

      const failures = warnings.filter(({ details }) => details.part !== undefined)
      assert.deepEqual(failures, [])
      assert.deepEqual(
        html.match(/<[^>]*/g)?.map((tag) => tag.replace(/".*"/s, '')),
        ['<p title=', '</p', '<b', '</b', '<b', '</b'],
      )
      assert.equal(html.match(/"/g)?.length, 2)
      assert.doesNotMatch(html, /123456|5ec7e7/)
    })
  }

  test('does not write a user’s name as a header', async (t) => {
    const evil = 'x\r\nBcc: eve@example.net\r\n\r\n<script>alert(1)</script>'
    const { renderer } = await withTemplate(t, '<p>{{ .Data.name }}</p>', {
      recovery: 'For {{ .Data.name }} {{ .Email }}',
    })
    const { port, emails } = await startSmtp(t)
    const transport = createMailTransport(transportOptions(port))
    t.after(transport.close)
    const rendered = await renderer.render('recovery', {
      ...samples.recovery,
      Email: evil,
      Data: { name: evil },
    })
    const facts = { kind: 'recovery' as EmailKind, messageId: '<1@example.com>', date: new Date() }

    await transport.send({ ...facts, to: 'ada@example.org', ...rendered })

    const [mail] = emails
    assert.equal(emails.length, 1)
    assert.deepEqual(mail?.recipients, ['ada@example.org'])
    assert.equal(mail?.parsed.bcc, undefined)
    assert.match(mail?.parsed.subject ?? '', /^For x Bcc: eve@example\.\u200Bnet <script>/)
    assert.match(String(mail?.parsed.html), /^<p>x\s+Bcc: eve@example\.\u200Bnet\s+&lt;script&gt;/)
  })
})

async function withTemplate(
  t: TestContext,
  source: string,
  subjects: Partial<Record<EmailKind, string>>,
) {
  const { url } = await startTemplateServer(t, source)
  return rendererWith({ templates: { recovery: url }, subjects })
}
