/** A browser without script: it follows redirects, fills in forms, and stops where it leaves the server. */
export interface Page {
  action: string
  fields: Record<string, string>
}

export function openBrowser() {
  const cookies = new Map<string, string>()

  async function send({ action, fields }: { action: string; fields?: Record<string, string> }) {
    const response = await fetch(action, {
      ...(fields && { method: 'POST', body: new URLSearchParams(fields) }),
      headers: { cookie: [...cookies].map((pair) => pair.join('=')).join('; ') },
      redirect: 'manual',
    })
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? []
      cookies.set(name, value)
    }
    return response
  }

  return {
    /** Until a redirect or a form leads to another server; `entered` goes into the fields of forms. */
    async run(
      start: { action: string; fields?: Record<string, string> },
      entered: Record<string, string> = {},
    ): Promise<Page> {
      const { origin } = new URL(start.action)
      let next = start
      for (let step = 0; step < 12; step++) {
        const response = await send(next)
        const location = response.headers.get('location')
        const page = location ? '' : await response.text()
        next = location
          ? { action: new URL(location, next.action).href }
          : formIn(page, next.action)
        if (new URL(next.action).origin !== origin) return { fields: {}, ...next }
        if (!location) next.fields = { ...next.fields, ...entered }
      }
      throw new Error(`the browser goes round in circles at ${next.action}`)
    },
  }
}

function formIn(page: string, base: string): Page {
  const action = /<form[^>]*action="([^"]*)"/i.exec(page)?.[1]
  if (action === undefined) throw new Error(`no form: ${page.slice(0, 2000)}`)
  const inputs = [...page.matchAll(/<input[^>]*>/gi)].map(([input]) => [
    /name="([^"]+)"/i.exec(input)?.[1] ?? '',
    decode(/value="([^"]*)"/i.exec(input)?.[1] ?? ''),
  ])
  const fields = Object.fromEntries(inputs.filter(([name]) => name !== ''))
  return { action: new URL(decode(action), base).href, fields }
}

const decode = (text: string) =>
  text
    .replace(/&#x([0-9a-f]+);/gi, (_, code: string) =>
      String.fromCharCode(Number.parseInt(code, 16)),
    )
    .replace(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)))
    .replaceAll('&quot;', '"')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')
