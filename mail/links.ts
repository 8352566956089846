/** Finds the links of an HTML email. */

const href = /\bhref\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>"']+))/gi
const named: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

/** Returns its http and https URLs, each once, in order. */
export function linksIn(html: string): string[] {
  const targets = [...html.matchAll(href)].map(([, double, single, bare]) =>
    withoutEntities(double ?? single ?? bare ?? ''),
  )
  return [...new Set(targets)].filter((target) => /^https?:\/\//i.test(target))
}

function withoutEntities(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|(\w+));/gi, (entity, decimal, hex, name) => {
    if (name !== undefined) return named[name] ?? entity
    const point = Number.parseInt(decimal ?? hex, decimal === undefined ? 16 : 10)
    return point <= 0x10ffff ? String.fromCodePoint(point) : entity
  })
}
