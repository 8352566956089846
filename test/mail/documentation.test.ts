/** The types, variables and examples in docs/email-templates.md. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { suite, test } from 'node:test'

import { compileTemplate } from '../../mail/go-template/template.ts'
import { emailKindDefinitions, mailKindNames } from '../../mail/kinds/index.ts'
import { samples } from './rendering.ts'

const page = readFileSync(new URL('../../docs/email-templates.md', import.meta.url), 'utf8')
const linkVariables = ['ConfirmationURL', 'Token', 'TokenHash', 'RedirectTo']

suite('docs/email-templates.md', () => {
  for (const kind of mailKindNames) {
    test(`lists the variables of ${kind}`, () => {
      const { envSuffix, messageType, variables: schema } = emailKindDefinitions[kind]
      const variables = Object.keys(schema.properties)
      const row = page.split('\n').find((line) => line.startsWith(`| \`${envSuffix}\` |`))
      const [, , words = '', type = ''] = (row ?? '').split('|').slice(1)

      const named = [...words.matchAll(/`\.(\w+)`/g)].map(([, name]) => name ?? '')
      const all = words.includes('link variables') ? [...named, ...linkVariables] : named
      assert.deepEqual(new Set(['SiteURL', 'Email', 'Data', ...all]), new Set(variables))
      assert.deepEqual(new Set(Object.keys(samples[kind])), new Set(variables))
      assert.equal(type.trim(), `\`${messageType}\``)
    })
  }

  const examples = [...page.matchAll(/```html\n([\s\S]*?)```/g)].map(([, source]) => source ?? '')
  for (const source of examples) {
    test(`contains the valid example ${source.slice(0, 40).trim()}...`, () => {
      assert.match(compileTemplate(source, 'html').render(samples.email_change), /<a href="https:/)
    })
  }

  test('contains examples', () => assert.ok(examples.length >= 3))
})
