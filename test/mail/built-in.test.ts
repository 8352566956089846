/** Every built-in mail as it arrives: sent over SMTP and parsed back. */
import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'

import { convert } from 'html-to-text'

import { type MailKind, mailKindNames, mailKinds } from '../../mail/kinds.ts'
import { english } from '../../mail/languages/language.ts'
import { createMailTransport } from '../../mail/transport.ts'
import type { MailVariables } from '../../mail/variables.ts'
import { rendererWith, samples } from './rendering.ts'
import { startSmtp, transportOptions } from './smtp.ts'

/** What each of them has to say, beside its link and its code. */
const sayings: Record<MailKind, string[]> = {
  confirmation: ['ada@example.org'],
  invite: ['ada@example.org', 'https://app.example'],
  recovery: ['ada@example.org'],
  magic_link: ['ada@example.org'],
  email_change: ['from ada@example.org to ada@example.com', 'Sent to ada@example.com'],
  reauthentication: ['Sent to ada@example.org'],
  password_changed_notification: ['ada@example.org'],
  email_changed_notification: [
    'from old@example.org to ada@example.org',
    'Sent to old@example.org',
  ],
  phone_changed_notification: ['from +15550101 to +15550102'],
  identity_linked_notification: ['GitHub can be used'],
  identity_unlinked_notification: ['custom:acme can no longer be used'],
  mfa_factor_enrolled_notification: ['an authenticator app'],
  mfa_factor_unenrolled_notification: ['your phone.'],
  security_key_refused_notification: ['a copy of it exists'],
  recovery_code_used_notification: ['9 codes are left.'],
  new_sign_in_notification: [
    'Device: Firefox, Windows',
    '203.0.113.7',
    'March 4, 2026 at 5:06 AM UTC',
  ],
  refresh_token_reused_notification: ['we ended the session'],
  account_deleted_notification: ['ada@example.org', 'https://app.example'],
}

const link = samples.confirmation.ConfirmationURL
const variants: [name: string, kind: MailKind, change: object, says: RegExp, not: RegExp][] = [
  [
    'a change of address told to the old one',
    'email_change',
    { SendingTo: 'ada@example.org' },
    /The new address gets a mail like this one too/,
    /Your old address may/,
  ],
  [
    'a first address of somebody who had none',
    'email_change',
    { Email: '' },
    /is to change to ada@example\.com\./,
    / from |old address/,
  ],
  [
    'a first phone number',
    'phone_changed_notification',
    { OldPhone: '' },
    /has changed to \+15550102\./,
    / from /,
  ],
]

suite('built-in mails', () => {
  for (const kind of mailKindNames) {
    test(`${kind} arrives with both parts`, async (t) => {
      const { subject, html, text } = await arrived(t, kind, samples[kind])

      assert.equal(subject, english.mails[kind].subject.replace('{{ .Token }}', '123456'))
      const shown = convert(html, { wordwrap: false, selectors: upperless })
      for (const saying of sayings[kind]) {
        assert.ok(text.includes(saying), `the text does not say ${saying}:\n${text}`)
        assert.ok(shown.includes(saying), `the HTML does not say ${saying}:\n${shown}`)
      }
      assert.doesNotMatch(text, /\{\{|<|&amp;/)
      assert.doesNotMatch(html, /\{\{|<img|<script|src=|url\(/)
      assert.match(html, /prefers-color-scheme: dark/)
      assert.match(html, /name="viewport"/)
    })

    test(`${kind} has the link and the code of its kind, and no other`, async (t) => {
      const { html, text } = await arrived(t, kind, samples[kind])

      const hrefs = [...html.matchAll(/href="([^"]*)"/g)].map(([, href]) => unescaped(href ?? ''))
      const codes = (from: string) => [...from.matchAll(/\b123456\b/g)].length
      const hasCode = mailKinds[kind].link || kind === 'reauthentication'
      const address = buttonOf(kind)
      assert.deepEqual(hrefs, address ? [address, address] : [])
      assert.equal(text.includes(`\n${link}\n`), mailKinds[kind].link)
      assert.equal(codes(text), hasCode ? 1 : 0)
      assert.equal(codes(html), hasCode ? 1 : 0)
    })
  }

  for (const [name, kind, change, says, not] of variants) {
    test(name, async (t) => {
      const { text } = await arrived(t, kind, { ...samples[kind], ...change })

      const flat = text.split('\n-- \n')[0]?.replaceAll('\n', ' ') ?? ''
      assert.match(flat, says)
      assert.doesNotMatch(flat, not)
    })
  }

  test('whatever stands in the variables, nothing but text comes of it', async (t) => {
    const evil = '"><script>alert(1)</script><a href="https://evil.example">{{ .Token }}{% raw %}'
    for (const kind of mailKindNames) {
      const names = Object.keys(samples[kind])
      const { html } = await arrived(
        t,
        kind,
        Object.fromEntries(names.map((name) => [name, name === 'Data' ? { name: evil } : evil])),
      )

      assert.doesNotMatch(html, /<script|href="https:\/\/evil/)
      assert.equal(html.match(/<a /g)?.length ?? 0, buttonOf(kind) ? 2 : 0)
    }
  })
})

/** Where the button of a kind leads. */
function buttonOf(kind: MailKind): string | undefined {
  if (mailKinds[kind].link) return link
  return kind === 'new_sign_in_notification' ? samples[kind].EndSessionURL : undefined
}

async function arrived(t: TestContext, kind: MailKind, variables: object) {
  const { renderer, warnings } = rendererWith()
  const { port, mails } = await startSmtp(t)
  const transport = createMailTransport(transportOptions(port))
  t.after(transport.close)
  const rendered = await renderer.render(kind, variables as MailVariables[MailKind])
  const facts = { kind, messageId: '<1@example.com>', to: 'ada@example.org', date: new Date() }
  await transport.send({ ...facts, ...rendered })
  assert.deepEqual(warnings, [])
  const parsed = mails[0]?.parsed
  assert.ok(parsed?.html)
  return { subject: parsed.subject, html: parsed.html, text: parsed.text ?? '' }
}

const upperless = ['h1', 'a'].map((selector) => ({
  selector,
  options: { uppercase: false, ignoreHref: true },
}))

function unescaped(text: string): string {
  return text.replaceAll('&amp;', '&').replaceAll('&#34;', '"')
}
