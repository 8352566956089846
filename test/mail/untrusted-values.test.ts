/** Texts that users choose do not become links in emails of the operator. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { mailKindNames } from '../../mail/kinds/index.ts'
import { rendererWith, samples } from './rendering.ts'

const evil = 'Your parcel: https://evil.example/0 \u202Emoc.live 198.51.100.7 evil\u3002com'
const link = /https:\/\/evil|evil\.example|\u202E|198\.51\.100\.7|evil\u3002com/

const withData = (template: string, Data: Record<string, unknown>) =>
  rendererWith({
    templates: { magic_link: template },
    subjects: { magic_link: template.replace(/<[^>]*>/g, '') },
  }).renderer.render('magic_link', { ...samples.magic_link, Data })

suite('values that users choose', () => {
  const ways: Record<string, string> = {
    'a variable': '<p>{{ .Data.name }}</p>',
    'a function': '<p>{{ or .Data.missing .Data.name }} {{ index .Data "name" }}</p>',
    'an encoded value': '<p>{{ urlquery .Data.name }}</p>',
    'a block': '<p>{{ with .Data }}{{ .name }}{{ end }}</p>',
    'a loop': '<p>{{ range $key, $value := .Data.map }}{{ $key }}{{ $value }}{{ end }}</p>',
    'a declared variable': '<p>{{ $name := .Data.name }}{{ $name }}</p>',
    'an object': '<p>{{ .Data }}</p>',
  }
  for (const [way, template] of Object.entries(ways)) {
    test(`are shown without a link by ${way}`, async () => {
      const { subject, html, text, problems } = await withData(template, {
        name: evil,
        map: { [evil]: evil },
      })
      assert.deepEqual(
        problems.filter((problem) => problem.includes('failed')),
        [],
      )
      for (const shown of [subject, html, text]) {
        assert.match(shown, /parcel/)
        assert.doesNotMatch(shown, link)
      }
    })
  }

  test('are unchanged in attributes and comparisons', async () => {
    const template = `<a href="{{ .Data.url }}" title="{{ .Data.plan }}">{{ if eq .Data.plan "a.b" }}yes{{ end }}</a>
      {{ if gt (len .Data.plan) 3 }}long{{ end }}{{ if lt .Data.plan "b" }} less{{ end }}`
    const { html } = await withData(template, { url: 'https://app.example/x', plan: 'a.b' })
    assert.match(html, /href="https:\/\/app\.example\/x" title="a\.b">yes<\/a>\s+ less/)
  })

  test('are shown without a link in each built-in email', async () => {
    const users = ['OrganizationName', 'Role', 'ClientName', 'Scopes', 'TokenName', 'PasskeyName']
    const names = [
      ...users,
      'ConnectionName',
      'Username',
      'Device',
      'FactorType',
      'Email',
      'InvitedBy',
    ]
    const { renderer } = rendererWith()
    for (const kind of mailKindNames) {
      const own = Object.keys(samples[kind]).filter((name) => names.includes(name))
      const chosen = Object.fromEntries(own.map((name) => [name, evil]))
      const { subject, html, text } = await renderer.render(kind, { ...samples[kind], ...chosen })
      for (const shown of [subject, html, text]) assert.doesNotMatch(shown, link, kind)
    }
  })

  test('leave addresses and links of the server as they are', async () => {
    const { renderer } = rendererWith()
    const { OrganizationName: _, ...sample } = samples.organization_invitation
    const { text, html } = await renderer.render('organization_invitation', {
      ...sample,
      OrganizationName: 'Booking.com',
    })
    for (const shown of [sample.Email, sample.InvitedBy, sample.InvitationURL]) {
      assert.ok(text.includes(shown) && html.includes(shown), shown)
    }
    assert.match(text, /Booking\.\u200Bcom/)
  })
})
