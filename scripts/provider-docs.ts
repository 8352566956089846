/**
 * Writes docs/providers.md from the provider definitions. With --check it writes nothing and fails when the file is out
 * of date.
 */
import { readFile, writeFile } from 'node:fs/promises'

import type { ProviderDocs } from '../providers/core/types.ts'
import { findVendor, openidConnect, providerNames } from '../providers/registry.ts'

const path = new URL('../docs/providers.md', import.meta.url)

const introduction = `# External providers

<!-- Made by scripts/provider-docs.ts from the files in providers/vendors/. Edit those. -->

Users sign in with an account at another provider: \`GET /authorize?provider=<name>\` redirects the browser to the provider, and \`/callback\` receives the response. Register an application at each provider and set these variables:

| Variable | Meaning |
|---|---|
| \`AUTH_EXTERNAL_<P>_ENABLED\` | \`true\` enables the provider |
| \`AUTH_EXTERNAL_<P>_CLIENT_ID\` | the client id. Several can be separated by commas: the first is used in the browser, all are accepted audiences of ID tokens |
| \`AUTH_EXTERNAL_<P>_SECRET\` | the client secret |
| \`AUTH_EXTERNAL_<P>_REDIRECT_URI\` | the redirect URI, exactly as registered: \`<AUTH_API_EXTERNAL_URL>/callback\`, or [one of its own](external-sign-in.md#redirect-uris) |
| \`AUTH_EXTERNAL_<P>_URL\` | another address of the provider, see each provider |
| \`AUTH_EXTERNAL_<P>_EMAIL_OPTIONAL\` | \`true\` accepts users without an email address |
| \`AUTH_EXTERNAL_<P>_SKIP_NONCE_CHECK\` | \`true\` accepts ID tokens without verifying the nonce, for apps whose SDK cannot set one |
| \`AUTH_EXTERNAL_<P>_ID_TOKEN_ONLY\` | \`true\` accepts ID tokens of apps only; the secret is optional then |

An address links to an existing account only if the provider has verified it.
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
    const definition = findVendor(name)
    return definition ? [section(name, definition.docs)] : []
  })
  return `${[introduction.trim(), ...sections, section('<name>', openidConnect.docs, 'OIDC_<NAME>')].join('\n\n')}\n`
}

if (process.argv.includes('--check')) {
  const written = await readFile(path, 'utf8').catch(() => '')
  if (written !== page()) {
    console.error('docs/providers.md is outdated: run node scripts/provider-docs.ts')
    process.exitCode = 1
  }
} else {
  await writeFile(path, page())
}
