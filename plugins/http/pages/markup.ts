/** Helpers shared by the server's pages and the development pages. */

/** Escapes text for HTML, attribute values included. */
export function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`)
}

interface DevPage {
  title: string
  /** Further style sheets and scripts, as HTML. */
  head?: string
  /** HTML. */
  body: string
}

/** A development page in the common layout. */
export function devPage({ title, head = '', body }: DevPage): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escaped(title)} · Postern</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/dev/dev.css">
${head}
</head>
<body>
${body}
</body>
</html>
`
}
