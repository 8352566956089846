/**
 * Writes docs/providers.md from what every provider's file says about itself.
 * With --check it writes nothing and fails when the file is out of date.
 */
import { readFile, writeFile } from 'node:fs/promises'

import { openidConnect } from '../providers/openid-connect.ts'
import type { ProviderDocs } from '../providers/provider.ts'
import { findDefinition, providerNames } from '../providers/registry.ts'

const path = new URL('../docs/providers.md', import.meta.url)

const introduction = `# External providers

<!-- Made by scripts/provider-docs.ts from the files in providers/vendors/. Edit those. -->

People sign in with an account they have elsewhere: \`GET /authorize?provider=<name>\` sends the browser there, and \`/callback\` takes it back. For each provider you register an application, then enter here what you got:

| Variable | Meaning |
|---|---|
| \`AUTH_EXTERNAL_<P>_ENABLED\` | \`true\` to offer it |
| \`AUTH_EXTERNAL_<P>_CLIENT_ID\` | the client id. A comma list is possible: the first one is used in the browser, all of them are accepted audiences of id_tokens |
| \`AUTH_EXTERNAL_<P>_SECRET\` | the client secret |
| \`AUTH_EXTERNAL_<P>_REDIRECT_URI\` | the redirect URI, exactly as registered: \`<AUTH_API_EXTERNAL_URL>/callback\` |
| \`AUTH_EXTERNAL_<P>_URL\` | another address of the provider, see each |
| \`AUTH_EXTERNAL_<P>_EMAIL_OPTIONAL\` | \`true\` lets people in of whom the provider tells no e-mail address |
| \`AUTH_EXTERNAL_<P>_SKIP_NONCE_CHECK\` | \`true\` accepts id_tokens without comparing the nonce; for apps whose SDK cannot set one |
| \`AUTH_EXTERNAL_<P>_ID_TOKEN_ONLY\` | \`true\` when only id_tokens of apps are accepted; the secret may then be left out |

An address links to an existing account only when the provider has verified it.
`

function section(name: string, docs: ProviderDocs, infix = name.toUpperCase()): string {
  const prefix = `AUTH_EXTERNAL_${infix}`
  const steps = [
    ...docs.steps,
    `Enter \`${prefix}_CLIENT_ID\`, \`${prefix}_SECRET\`, \`${prefix}_REDIRECT_URI\`, and \`${prefix}_ENABLED=true\`.`,
  ]
  const variables = Object.entries(docs.variables ?? {})
  return [
    `## ${docs.title}`,
    `Provider \`${name}\`. Registered at ${link(docs.register)}.`,
    steps.map((step, index) => `${index + 1}. ${step}`).join('\n'),
    facts([
      ['Scopes', docs.scopes === 'none' ? 'none' : `\`${docs.scopes}\``],
      [`\`${prefix}_URL\``, docs.url],
      ...variables.map(([variable, meaning]): [string, string] => [`\`${variable}\``, meaning]),
    ]),
    docs.notes.map((note) => `- ${note}`).join('\n'),
  ]
    .filter((part) => part !== '')
    .join('\n\n')
}

function facts(rows: [string, string][]): string {
  return ['| | |', '|---|---|', ...rows.map((row) => `| ${row.join(' | ')} |`)].join('\n')
}

function link(register: string): string {
  return register.replace(/^https:\S+/, (url) => `<${url}>`)
}

function page(): string {
  const sections = providerNames.toSorted().flatMap((name) => {
    const definition = findDefinition(name)
    return definition ? [section(name, definition.docs)] : []
  })
  return `${[introduction.trim(), ...sections, section('<name>', openidConnect.docs, 'OIDC_<NAME>')].join('\n\n')}\n`
}

if (process.argv.includes('--check')) {
  const written = await readFile(path, 'utf8').catch(() => '')
  if (written !== page()) {
    console.error('docs/providers.md is out of date: run node scripts/provider-docs.ts')
    process.exitCode = 1
  }
} else {
  await writeFile(path, page())
}
