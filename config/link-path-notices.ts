/** Warns of email links to a page that this server does not have. */
import type { Config } from './groups/index.ts'

const kinds = ['INVITE', 'CONFIRMATION', 'RECOVERY', 'EMAIL_CHANGE'] as const

/** One sentence per link. When the site shares our host, the page may be the site's. */
export function linkPathNotices(config: Config): string[] {
  const own = new URL(config.AUTH_API_EXTERNAL_URL)
  if (URL.parse(config.AUTH_SITE_URL)?.origin === own.origin) return []
  const bases = ['', config.AUTH_API_PREFIX, own.pathname].map((path) => path.replace(/\/$/, ''))
  const pages = bases.map((base) => `${base}/verify`)
  return kinds.flatMap((kind) => {
    const variable = `AUTH_MAILER_URLPATHS_${kind}` as const
    const page = URL.parse(config[variable], own.href)
    const isServed = page === null || page.origin !== own.origin || pages.includes(page.pathname)
    if (isServed) return []
    return [
      `${variable} is ${config[variable]}: this server has no page at ${page.origin}${page.pathname}, which these emails link to. Remove the variable, or set the full URL of a page on your site.`,
    ]
  })
}
