/** `npm run mail:preview`: renders every email into HTML files, with the configured templates and subjects. */
import { mkdir, writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'

import { withDotEnv } from '../config/dot-env.ts'
import type { Config } from '../config/groups/index.ts'
import { readConfig } from '../config/read-config.ts'
import { builtInSource } from '../mail/built-in/built-in.ts'
import type { LocalizedMessages } from '../mail/languages/language.ts'
import { type MailPreview, previewAll } from '../mail/preview.ts'
import { escaped } from '../plugins/http/pages/markup.ts'
import type { Languages } from '../plugins/localization/languages/index.ts'
import { withPresets } from './dev/presets.ts'
import { readTag, withRenderer } from './mail/renderer.ts'

export const usage = 'npm run mail:preview -- [FOLDER] [--locale TAG | --all] [--missing]'

/**
 * Writes to the folder of the first argument, or to .data/mail-preview: the default language, that of `--locale`, or
 * with `--all` a folder for each. `--missing` lists missing custom messages only.
 */
export async function run(args: readonly string[]): Promise<void> {
  const { values, positionals } = parseArgs({
    args: [...args],
    options: { all: { type: 'boolean' }, locale: { type: 'string' }, missing: { type: 'boolean' } },
    allowPositionals: true,
  })
  const folder = resolve(positionals[0] ?? '.data/mail-preview')
  const config = readSettings()
  await withRenderer(config, async ({ languages, renderer }) => {
    if (values.missing) return listMissing(languages)
    const { AUTH_SITE_URL: siteUrl, AUTH_API_EXTERNAL_URL: externalUrl } = config
    const tags = values.all ? languages.available : [readTag(values.locale, languages)]
    for (const tag of tags) {
      const into = values.all ? `${folder}/${tag}` : folder
      const previews = await previewAll(renderer, { siteUrl, externalUrl }, tag)
      await writePreviews(into, previews, languages.messagesFor(tag))
      console.log(`${previews.length} emails: ${pathToFileURL(`${into}/index.html`)}`)
    }
  })
}

function listMissing(languages: Languages): void {
  const missing = languages.missing()
  const lines = missing.flatMap(({ tag, places }) => places.map((place) => `${tag}  ${place}`))
  if (lines.length === 0) console.log('No message is missing.')
  for (const line of lines) console.log(line)
}

/** The server's settings. Settings that emails do not need may be missing. */
function readSettings(): Config {
  const unused = { DATABASE_URL: 'postgres://unused', AUTH_JWT_SECRET: 'unused'.repeat(8) }
  const env = withPresets(withDotEnv(process.env), unused)
  return readConfig(env, { dev: true, warn: () => {} })
}

async function writePreviews(folder: string, previews: MailPreview[], messages: LocalizedMessages) {
  await mkdir(`${folder}/templates`, { recursive: true })
  const files = previews.flatMap(({ kind, html, text }) => [
    [`${kind}.html`, html] as const,
    [`${kind}.txt`, text] as const,
    [`templates/${kind}.html`, builtInSource(kind, messages).html] as const,
  ])
  await Promise.all(
    [...files, ['index.html', indexPage(previews)] as const].map(([name, content]) =>
      writeFile(`${folder}/${name}`, content),
    ),
  )
}

function indexPage(previews: MailPreview[]): string {
  const sections = previews.map(
    ({ kind, subject }) => `<section>
<h2 id="${kind}">${kind}</h2>
<p>${escaped(subject)} &nbsp; <a href="${kind}.html">HTML</a> <a href="${kind}.txt">text</a> <a href="templates/${kind}.html">built-in template</a></p>
<iframe src="${kind}.html" title="${kind}, wide" width="800" height="760"></iframe>
<iframe src="${kind}.html" title="${kind}, narrow" width="320" height="760"></iframe>
</section>`,
  )
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Emails</title>
<style>body { font-family: sans-serif; margin: 2rem } iframe { border: 1px solid #999; max-width: 100% }</style>
<h1>Emails</h1>
${sections.join('\n')}
</html>
`
}
