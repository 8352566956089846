/**
 * Follows the literal HTML of a template, to know where each value will stand.
 * Escaping alone keeps a value inside its place; in a link the place also decides what it may mean:
 * `javascript:` must not start one, and `&` must not add a parameter to one.
 */

export type Position = 'text' | 'attribute' | 'unquoted' | 'url' | 'query' | 'forbidden'

const urlAttributes = new Set([
  'href',
  'src',
  'action',
  'formaction',
  'background',
  'poster',
  'cite',
])

type State = 'text' | 'tag-name' | 'tag' | 'attribute-name' | 'before-value' | 'value'

export interface HtmlCursor {
  read(literal: string): void
  /** The position of a value put here; also moves past it. */
  value(): Position
}

export function createHtmlCursor(): HtmlCursor {
  let state: State = 'text'
  let tag = ''
  let attribute = ''
  let quote = ''
  let valueSoFar = ''
  let tail = ''

  function closeTag() {
    state = 'text'
  }

  function step(char: string, rest: string) {
    switch (state) {
      case 'text':
        return inText(char, rest)
      case 'tag-name':
        if (/[\s/>]/.test(char)) state = 'tag'
        else tag += char.toLowerCase()
        if (char === '>') closeTag()
        return
      case 'tag':
        if (char === '>') return closeTag()
        if (/[\s/'"=]/.test(char)) return
        attribute = char.toLowerCase()
        state = 'attribute-name'
        return
      case 'attribute-name':
        if (char === '>') return closeTag()
        if (char === '=') state = 'before-value'
        else if (/\s/.test(char)) state = /^\s*=/.test(rest) ? 'attribute-name' : 'tag'
        else attribute += char.toLowerCase()
        return
      case 'before-value':
        if (char === '>') return closeTag()
        if (/\s/.test(char)) return
        return openValue(char)
      case 'value':
        return inValue(char)
    }
  }

  function inText(char: string, rest: string) {
    if (char !== '<') return
    // Inside <script> and <style> only their own end tag counts.
    const raw = tag === 'script' || tag === 'style'
    const closes = rest.slice(1, 2 + tag.length).toLowerCase() === `/${tag}`
    if (raw ? !closes : !/^<\/?[a-z]/i.test(rest)) return
    tag = ''
    state = 'tag-name'
    // The slash of an end tag stays in its name, so that </script> does not open a script.
  }

  function openValue(char: string) {
    state = 'value'
    quote = char === '"' || char === "'" ? char : ''
    valueSoFar = quote ? '' : char
  }

  function inValue(char: string) {
    if (quote ? char === quote : /[\s>]/.test(char)) {
      state = 'tag'
      if (char === '>') closeTag()
      return
    }
    valueSoFar += char
  }

  function inAttribute(): Position {
    if (attribute.startsWith('on') || attribute === 'style') return 'forbidden'
    if (urlAttributes.has(attribute)) {
      if (/[?#&=]/.test(valueSoFar)) return 'query'
      if (valueSoFar === '') return quote ? 'url' : 'unquoted'
    }
    return quote ? 'attribute' : 'unquoted'
  }

  return {
    read(literal) {
      for (let i = 0; i < literal.length; i++) step(literal.charAt(i), literal.slice(i, i + 12))
      tail = literal.slice(-2)
    },
    value() {
      if (state === 'before-value') openValue('')
      if (state === 'value') return inAttribute()
      const raw = tag === 'script' || tag === 'style'
      return state === 'text' && !raw && !/<\/?$/.test(tail) ? 'text' : 'forbidden'
    },
  }
}
