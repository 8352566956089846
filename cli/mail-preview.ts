/** `npm run mail:preview`: all mails as files to open in a browser, with the templates and subjects of the environment. */
import { mkdir, writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { builtInSource } from '../mail/built-in/built-in.ts'
import { type MailKind, mailKindNames, mailKinds } from '../mail/kinds.ts'
import { type MailPreview, previewAll } from '../mail/preview.ts'
import { createMailRenderer } from '../mail/render.ts'

/** Writes to the folder named by the first argument, or to .data/mail-preview. */
export async function run(args: readonly string[]): Promise<void> {
  const folder = resolve(args[0] ?? '.data/mail-preview')
  const siteUrl = setting('SITE_URL') ?? 'https://app.example.com'
  const renderer = createMailRenderer({
    fetch: globalThis.fetch,
    siteUrl,
    templateUrls: settingsOfKinds('MAILER_TEMPLATES'),
    subjects: settingsOfKinds('MAILER_SUBJECTS'),
    maxAgeSeconds: 600,
    log: { warn: (details, message) => console.error(message, details) },
  })
  const previews = await previewAll(renderer, siteUrl)
  await writePreviews(folder, previews)
  console.log(`${previews.length} mails: ${pathToFileURL(`${folder}/index.html`)}`)
}

async function writePreviews(folder: string, previews: MailPreview[]) {
  await mkdir(`${folder}/templates`, { recursive: true })
  const files = previews.flatMap(({ kind, html, text }) => [
    [`${kind}.html`, html] as const,
    [`${kind}.txt`, text] as const,
    [`templates/${kind}.html`, builtInSource(kind).html] as const,
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
<h2>${kind}</h2>
<p>${escapeHtml(subject)} &nbsp; <a href="${kind}.html">HTML</a> <a href="${kind}.txt">text</a> <a href="templates/${kind}.html">built-in template</a></p>
<iframe src="${kind}.html" title="${kind}, wide" width="800" height="760"></iframe>
<iframe src="${kind}.html" title="${kind}, narrow" width="320" height="760"></iframe>
</section>`,
  )
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Mails</title>
<style>body { font-family: sans-serif; margin: 2rem } iframe { border: 1px solid #999; max-width: 100% }</style>
<h1>Mails</h1>
${sections.join('\n')}
</html>
`
}

function settingsOfKinds(group: string): Partial<Record<MailKind, string>> {
  return Object.fromEntries(
    mailKindNames.flatMap((kind) => {
      const value = setting(`${group}_${mailKinds[kind].envSuffix}`)
      return value ? [[kind, value]] : []
    }),
  )
}

function setting(name: string): string | undefined {
  return process.env[`AUTH_${name}`] || process.env[`GOTRUE_${name}`] || undefined
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, (char) => `&#${char.charCodeAt(0)};`)
}
