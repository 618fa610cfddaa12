// An element whose name equals a property of its document or form hides that property: with <img name="currentScript"> in a page
// `document.currentScript` is the image. Strangers' markup may have names, so the guard reads a document and a form only by their
// prototypes, which no markup reaches.

/** Reads the property itself, whatever the names of elements in the page. */
export const read = <From extends object, Name extends keyof From>(
  { prototype }: { readonly prototype: From },
  name: Name,
  of: From,
): From[Name] => Reflect.get(prototype, name, of);

export const createElement = <Tag extends "input" | "div" | "button">(
  tag: Tag,
): HTMLElementTagNameMap[Tag] =>
  Document.prototype.createElement.call(document, tag) as HTMLElementTagNameMap[Tag];

export const listen = <Type extends "input" | "change" | "submit">(
  type: Type,
  listener: (event: DocumentEventMap[Type]) => void,
): (() => void) => {
  const { prototype } = EventTarget;
  const early = { capture: true };
  const run = listener as EventListener;
  prototype.addEventListener.call(document, type, run, early);
  return () => prototype.removeEventListener.call(document, type, run, early);
};
