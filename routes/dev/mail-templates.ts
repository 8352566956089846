import type { FastifyInstance, FastifyPluginAsync } from 'fastify'

import { devPage, escaped } from '../../plugins/http/pages/markup.ts'

type Preview = Awaited<ReturnType<FastifyInstance['mailer']['preview']>>[number]

/** Previews of every type of email. */
const mailTemplates: FastifyPluginAsync = async (app) => {
  const { languages, mailer } = app

  app.get<{ Querystring: { locale?: string } }>(
    '/dev/mail-templates',
    { schema: { hide: true } },
    async ({ query }, reply) => {
      const { available, fallback } = languages
      const tag = available.find((each) => each === query.locale) ?? fallback
      const previews = await mailer.preview(tag)
      return reply.type('text/html; charset=utf-8').send(page(previews, { available, tag }))
    },
  )
}

interface Choice {
  available: readonly string[]
  tag: string
}

function page(previews: Preview[], choice: Choice): string {
  return devPage({
    title: 'Email templates',
    head: '<script src="/dev/mail-templates.js" defer></script>',
    body: `<header class="bar">
<a class="home" href="/dev">Postern</a>
<h1>Email templates</h1>
<span class="grow"></span>
<fieldset class="switch" id="widths"><legend>Width</legend>
<label><input type="radio" name="width" value="320"><span>Phone</span></label>
<label><input type="radio" name="width" value="800" checked><span>Wide</span></label>
</fieldset>
<a class="button" href="/dev/inbox">Inbox</a>
</header>
<div class="templates">
<nav aria-label="Types of email"><ul>
${previews.map(({ kind }) => `<li><a href="#${kind}">${words(kind)}</a></li>`).join('\n')}
</ul></nav>
<main>
<p class="note">${choice.available.map((tag) => languageLink(tag, choice)).join(' ')}</p>
<p class="note">Rendered with your subjects and templates (AUTH_MAILER_SUBJECTS_*, AUTH_MAILER_TEMPLATES_*, AUTH_TEMPLATES_DIR) and sample data. In development templates are not cached: save one and reload this page. If a template is missing or broken, the built-in one is sent, and shown here with the reason.</p>
${previews.map(section).join('\n')}
</main>
</div>`,
  })
}

function languageLink(tag: string, choice: Choice): string {
  const current = tag === choice.tag ? ' aria-current="page"' : ''
  return `<a href="?locale=${tag}"${current}>${tag}</a>`
}

function section({ kind, subject, html, text, problems }: Preview): string {
  return `<section id="${kind}">
<h2>${words(kind)} <code>${kind}</code></h2>
<p class="subject">${escaped(subject)}</p>
${problems.map((problem) => `<p class="problem">${escaped(problem)}</p>`).join('\n')}
<iframe class="mail" title="${words(kind)}" sandbox="allow-same-origin allow-popups allow-popups-to-escape-sandbox" srcdoc="${escaped(html)}"></iframe>
<details><summary>Plain text</summary><pre class="text">${escaped(text)}</pre></details>
</section>`
}

function words(kind: string): string {
  const spaced = kind.replaceAll('_', ' ').replace('mfa', 'MFA')
  return spaced.charAt(0).toUpperCase() + spaced.slice(1)
}

export default mailTemplates
