/** The HTML of the console, which only loads the files. */
import type { Bundle } from './bundle.ts'

/** All resources and requests stay on this server; no inline script or style. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "frame-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

export const consoleHeaders = {
  'content-security-policy': policy,
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'permissions-policy': 'camera=(), microphone=(), geolocation=()',
}

export const colorSchemes = ['light', 'dark'] as const
type ColorScheme = (typeof colorSchemes)[number]

/** `base` is the external path of the server without a trailing slash. */
export function consolePage(
  { script, style }: Bundle,
  { base, theme }: { base: string; theme: ColorScheme | undefined },
): string {
  const assets = `${base}/console/assets`
  return `<!doctype html>
<html lang="en" data-base="${base}"${theme ? ` data-theme="${theme}"` : ''}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>Postern console</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${assets}/${style}">
<script type="module" src="${assets}/${script}"></script>
</head>
<body>
<div id="root"></div>
<noscript>The console needs JavaScript.</noscript>
</body>
</html>
`
}
